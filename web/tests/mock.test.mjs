// The page against a mock run: what cannot be had from the program at will.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { report, serve } from "../mock/server.mjs";
import { launch, open, shots } from "./browser.mjs";
import { chartsMove, deviceBecomes, fitsTheScreen, loads, numbers, says, shownAfter, sortsByKeyboard, text } from "./checks.mjs";

let browser;
before(async () => void (browser = await launch()));
after(() => browser.close());

// A page that shows a mock run. Whatever it complains of, the policy of its content included, fails the test.
async function withRun(facts, options, body, allowed = []) {
  const server = await serve(facts);
  const opened = await open(browser, options);
  try {
    await opened.page.goto(server.url + (facts.path ?? ""));
    await body({ ...opened, server });
    assert.deepEqual(opened.complaints.filter((complaint) => !allowed.some((words) => complaint.includes(words))), []);
  } finally {
    await opened.close();
    await server.close();
  }
}

test("the page loads and its charts move", () =>
  withRun({ skip: 40, roundMs: 800 }, {}, async ({ page, requests, server }) => {
    await loads(page, { devices: 12 });
    await chartsMove(page);
    assert.deepEqual(requests, ["", "api/board", "api/events"].map((path) => server.url + path));
  }));

test("a device goes and comes back", () =>
  withRun({ skip: 5, roundMs: 3000 }, {}, async ({ page, server }) => {
    await loads(page);
    server.run.lose(4);
    await deviceBecomes(page, "board-05", "Gone", 2000);
    await says(page, "state-count-gone", "1");
    await page.screenshot({ path: join(shots, "gone.png") });
    server.run.find(4);
    await deviceBecomes(page, "board-05", ["Waiting", "Pulling", "Computing", "Sending", "Done"], 2000);
    await says(page, "state-count-gone", "0");
  }));

test("silence is said within three seconds, and its end too", () =>
  withRun({ skip: 5 }, {}, async ({ page, server }) => {
    const becomes = (state, timeout) => page.locator(`[data-testid="connection"][data-state="${state}"]`).waitFor({ timeout });
    await becomes("live", 5000);
    await page.evaluate(() => {
      const pill = document.querySelector('[data-testid="connection"]');
      new MutationObserver(() => (window.lostAt ??= pill.dataset.state === "lost" ? Date.now() : undefined)).observe(pill, { attributes: true });
    });
    server.silence(true);
    const begun = Date.now();
    await becomes("lost", 5000);
    // By the page's own clock: the way to this process and back may take as long again.
    const after = (await page.evaluate(() => window.lostAt)) - begun;
    assert.ok(after <= 3000, `said after ${after} ms`);
    assert.equal(await text(page, "connection"), "Connection lost, trying again");
    server.silence(false);
    await becomes("live", 3000);
    server.hangUp();
    await becomes("lost", 1000);
    await becomes("live", 5000);
    await chartsMove(page);
  }, ["ERR_", "net::"]));

test("the end of the program after the run is no loss", () =>
  withRun({ rounds: 20, skip: 20 }, {}, async ({ page, server }) => {
    await loads(page);
    assert.match(await text(page, "run-state"), /^Finished: all rounds done$/);
    server.hangUp();
    await page.locator('[data-testid="connection"][data-state="ended"]').waitFor({ timeout: 2000 });
  }, ["ERR_", "net::"]));

test("a token is passed along, leaves the address and survives a reload", () =>
  withRun({ skip: 5, token: "s3cret", path: "?token=s3cret" }, {}, async ({ page, server }) => {
    await loads(page);
    assert.equal(page.url(), server.url);
    await page.reload();
    await loads(page);
    assert.equal(page.url(), server.url);
  }));

test("a program that refuses is shown with what to do", () =>
  withRun({ skip: 5, token: "s3cret" }, {}, async ({ page }) => {
    await page.locator('[data-testid="connection"][data-state="refused"]').waitFor();
    assert.match(await text(page, "message"), /token/);
  }, ["401"]));

test("a report from disk has the numbers of the end and asks for nothing", () =>
  withRun({ rounds: 30, skip: 27, roundMs: 300 }, {}, async ({ page, server }) => {
    await page.locator('[data-testid="run-state"][data-state="finished"]').waitFor();
    await page.waitForTimeout(600);
    const live = await numbers(page);
    const folder = mkdtempSync(join(tmpdir(), "report-"));
    const file = join(folder, "report.html");
    writeFileSync(file, report(server.run.board()));
    const other = await open(browser);
    try {
      const address = pathToFileURL(file).href;
      await other.page.goto(address);
      await other.page.locator('[data-testid="connection"][data-state="report"]').waitFor();
      assert.deepEqual(await numbers(other.page), live);
      await other.page.screenshot({ path: join(shots, "report.png") });
      await sortsByKeyboard(other.page);
      assert.deepEqual(other.requests, [address]);
      assert.deepEqual(other.complaints, []);
    } finally {
      await other.close();
      rmSync(folder, { recursive: true });
    }
  }));

test("what devices say is text", () =>
  withRun({ skip: 30, still: true }, {}, async ({ page }) => {
    await loads(page);
    assert.match(await text(page, "notes"), /<script>alert\(1\)<\/script>/);
    assert.equal(await page.locator('[data-testid="notes"] script, #main b b').count(), 0);
  }));

test("the table is sorted by keyboard, filtered and selected", () =>
  withRun({ devices: 60, skip: 5, still: true }, {}, async ({ page }) => {
    await loads(page, { devices: 60 });
    await sortsByKeyboard(page);
    assert.equal(await page.locator('[data-testid="device-row"]').count(), 20);
    await page.locator('[data-testid="group"]').selectOption("board");
    await says(page, "matching", "20 of 60 devices");
    await page.locator('[data-testid="filter"]').fill("device 13");
    await says(page, "matching", "1 of 60 devices");
    assert.equal(await page.locator('[data-testid="device-row"]').count(), 1);
    await page.locator('[data-testid="filter"]').fill("");
    await page.locator('[data-testid="group"]').selectOption("");
    await says(page, "matching", "60 devices");
    // The map: one stop for the tab key, then arrows.
    await page.locator('[data-testid="fleet-map"] [tabindex="0"]').focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await text(page, "device-line"), /^device 1 · board/);
    await page.keyboard.press("Enter");
    await says(page, "clear-selection", "Unselect 1");
    await page.getByRole("button", { name: "Selected" }).click();
    assert.equal(await page.locator('[data-testid="timeline-row"]').count(), 1);
    // The same numbers as a table, in the place of the chart.
    const chart = page.locator('[data-testid="chart-accuracy"]');
    const high = (await chart.boundingBox()).height;
    await chart.getByRole("button").click();
    assert.equal(await chart.locator("tbody tr").count(), 5);
    assert.equal((await chart.boundingBox()).height, high);
  }));

test("the horizontal axis can be rounds, time or bytes", () =>
  withRun({ skip: 30, still: true }, {}, async ({ page }) => {
    await loads(page);
    const label = () => page.locator('[data-testid="chart-accuracy"] .plot').getAttribute("aria-label");
    assert.match(await label(), /round 30/);
    await page.getByRole("button", { name: "Virtual time" }).click();
    await page.waitForFunction(() => / min /.test(document.querySelector('[data-testid="chart-accuracy"] .plot').ariaLabel));
    await page.getByRole("button", { name: "Bytes" }).click();
    await page.waitForFunction(() => / MB/.test(document.querySelector('[data-testid="chart-accuracy"] .plot').ariaLabel));
  }));

test("panels are there only for mechanisms in use", () =>
  withRun({ skip: 5, panels: ["streams"] }, {}, async ({ page }) => {
    await loads(page);
    const shown = await page.locator('[data-testid^="panel-"]:visible').evaluateAll((all) => all.map((each) => each.dataset.testid));
    assert.deepEqual(shown, ["panel-learning", "panel-fleet", "panel-outcomes", "panel-streams"]);
  }));

test("a thousand devices and ten thousand rounds are shown within two seconds", () =>
  withRun({ devices: 1000, rounds: 10_000, skip: 9_900, roundMs: 1000 }, {}, async ({ page }) => {
    const after = await shownAfter(page);
    console.log(`shown after ${Math.round(after)} ms`);
    assert.ok(after < 2000, `shown after ${after} ms`);
    await loads(page, { devices: 1000 });
    await chartsMove(page);
    await page.screenshot({ path: join(shots, "thousand.png") });
  }));

test("nothing jumps while data arrive", () =>
  withRun({ skip: 3, roundMs: 400 }, {}, async ({ page }) => {
    await page.evaluate(() => {
      window.shifts = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.shifts += entry.value))).observe({ type: "layout-shift", buffered: true });
    });
    await loads(page);
    await page.waitForTimeout(4000);
    const shifts = await page.evaluate(() => window.shifts);
    assert.ok(shifts < 0.01, `layout shifts add up to ${shifts}`);
  }));

for (const [name, options] of Object.entries({
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  phone: { colorScheme: "light", viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
  wide: { colorScheme: "light", viewport: { width: 2200, height: 1200 } },
}))
  test(`it fits the screen: ${name}`, () =>
    withRun({ skip: 60, roundMs: 2500 }, options, async ({ page }) => {
      await loads(page);
      await page.waitForTimeout(1500);
      await fitsTheScreen(page);
      await page.screenshot({ path: join(shots, `${name}.png`) });
      // All of it: what is off the screen is not painted.
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width: page.viewportSize().width, height });
      await page.waitForTimeout(700);
      await page.screenshot({ path: join(shots, `${name}-all.png`) });
    }));
