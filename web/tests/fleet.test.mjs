// The page of a real fleet's coordinator, at TRIBUTARY_URL: one of its devices, DEVICE, is killed by the command KILL and comes back by the
// command RETURN.
import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, open, shots } from "./browser.mjs";
import { chartsMove, deviceBecomes, loads } from "./checks.mjs";

const { TRIBUTARY_URL: url, DEVICE: device, KILL: kill, RETURN: back } = process.env;
const skip = url === undefined || device === undefined ? "TRIBUTARY_URL and DEVICE are not set" : false;

let browser;
before(async () => void (skip || (browser = await launch())));
after(() => browser?.close());

test("a device that is killed shows as gone within two seconds, and as back when it returns", { skip }, async () => {
  const { page, complaints, close } = await open(browser);
  await page.goto(url);
  await loads(page);
  await chartsMove(page, 60_000);
  const there = ["Waiting", "Pulling", "Computing", "Sending", "Preparing"];
  await deviceBecomes(page, device, there, 10_000);
  execSync(kill);
  const gone = await deviceBecomes(page, device, "Gone", 2_000);
  await page.screenshot({ path: join(shots, "fleet.png") });
  execSync(back);
  const returned = await deviceBecomes(page, device, there, 30_000);
  console.log(`gone after ${gone} ms, back after ${returned} ms`);
  assert.deepEqual(complaints, []);
  await close();
});
