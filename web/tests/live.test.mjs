// The page as the program serves it: TRIBUTARY_URL is the address that it printed, of a run that trains for a while yet.
// REPORT is where the same run writes its report at its end, if that is to be compared with what the page says then: the
// page must have been opened before.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, open, shots } from "./browser.mjs";
import { chartsMove, fitsTheScreen, loads, numbers, sortsByKeyboard } from "./checks.mjs";

const url = process.env.TRIBUTARY_URL;
const file = process.env.REPORT;
const skip = url === undefined ? "TRIBUTARY_URL is not set" : false;

let browser;
before(async () => void (skip || (browser = await launch())));
after(() => browser?.close());

test("the program's page loads, moves and can be used", { skip }, async () => {
  const { page, requests, complaints, close } = await open(browser);
  await page.goto(url);
  await loads(page);
  await chartsMove(page, 60_000);
  await sortsByKeyboard(page);
  await page.screenshot({ path: join(shots, "program.png") });
  assert.ok(requests.every((request) => new URL(request).origin === new URL(url).origin));
  assert.deepEqual(complaints, []);
  await close();
});

test("the program's page fits a phone", { skip }, async () => {
  const { page, close } = await open(browser, { viewport: { width: 360, height: 740 } });
  await page.goto(url);
  await loads(page);
  await fitsTheScreen(page);
  await close();
});

test("the program's report has the numbers of the end", { skip: skip || (file === undefined ? "REPORT is not set" : false) }, async () => {
  const live = await open(browser);
  await live.page.goto(url);
  await live.page.locator('[data-testid="run-state"][data-state="finished"]').waitFor({ timeout: 300_000 });
  const end = await numbers(live.page);
  await live.close();
  for (let i = 0; !existsSync(file) && i < 100; ++i) await new Promise((done) => setTimeout(done, 100));
  const { page, requests, close } = await open(browser);
  const address = pathToFileURL(resolve(file)).href;
  await page.goto(address);
  assert.deepEqual(await numbers(page), end);
  await page.screenshot({ path: join(shots, "program-report.png") });
  assert.deepEqual(requests, [address]);
  await close();
});
