// What the page must do whoever serves it: the mock run (mock.test.mjs) or the program (live.test.mjs). Each takes a
// Playwright page that shows the page, and throws where it does not.
import assert from "node:assert/strict";

const by = (id) => `[data-testid="${id}"]`;

export const text = async (page, id) => (await page.locator(by(id)).first().textContent()).trim();

// A choice is shown at the next frame.
export async function says(page, id, words, timeout = 2000) {
  await page.waitForFunction(([name, wanted]) => document.querySelector(`[data-testid="${name}"]`)?.textContent.trim() === wanted, [id, words], { timeout }).catch(async () => {
    assert.equal(await text(page, id), words);
  });
}

// The run is there, and nothing is broken.
export async function loads(page, { devices } = {}) {
  await page.locator(`${by("connection")}[data-state="live"]`).waitFor();
  await page.locator(by("device-row")).first().waitFor();
  assert.match(await text(page, "round"), /^[\d,]+( of [\d,]+)?$/);
  assert.match(await text(page, "accuracy"), /^(–|\d+\.\d\d %)$/);
  // The time line is there once a device has ended a round.
  for (const id of ["chart-accuracy", "chart-loss", "fleet-map", "timeline", "device-table", "notes"])
    await page.locator(by(id)).waitFor({ timeout: 30_000 }).catch(() => assert.fail(`${id} is not to be seen`));
  if (devices !== undefined) {
    assert.equal(await page.locator(`${by("fleet-map")} .cell`).count(), devices);
    let counted = 0;
    for (const count of await page.locator('[data-testid^="state-count-"]').allTextContents()) counted += Number(count.replace(",", ""));
    assert.equal(counted, devices, "the counts of the states do not add up to the devices");
  }
}

// While training: the round goes up, the chart gets points and is drawn anew.
export async function chartsMove(page, timeout = 30_000) {
  const chart = page.locator(by("chart-loss"));
  await chart.locator("canvas").waitFor();
  const points = Number(await chart.getAttribute("data-points"));
  const drawn = await picture(chart);
  await page.waitForFunction(
    (before) => Number(document.querySelector('[data-testid="chart-loss"]').dataset.points) > before,
    points,
    { timeout },
  );
  const end = Date.now() + 5000;
  while ((await picture(chart)) === drawn) {
    assert.ok(Date.now() < end, "there are new points, and the chart looks the same");
    await page.waitForTimeout(100);
  }
}

const picture = (chart) => chart.locator("canvas").evaluate((canvas) => canvas.toDataURL());

// Within so many milliseconds the table says that the device does this: "Gone", "Computing", …; of several, any.
export async function deviceBecomes(page, name, states, timeout) {
  const begun = Date.now();
  await page.locator(by("filter")).fill(name);
  await page.waitForFunction(
    ([wanted, among]) => {
      const row = [...document.querySelectorAll('[data-testid="device-row"]')].find((each) => each.querySelector(".name").textContent === wanted);
      return among.includes(row?.querySelector('[data-testid="device-state"]').textContent);
    },
    [name, [states].flat()],
    { timeout, polling: 50 },
  );
  await page.locator(by("filter")).fill("");
  return Date.now() - begun;
}

// The numbers that a run is judged by, as the page writes them.
export async function numbers(page) {
  const result = {};
  for (const id of ["experiment", "run-state", "round", "time", "accuracy", "loss", "bytes-down", "bytes-up", "waiting", "applied", "about"]) result[id] = await text(page, id);
  for (const id of ["chart-accuracy", "chart-loss"]) result[id] = await page.locator(`${by(id)} .plot`).getAttribute("aria-label");
  return result;
}

// With the keyboard alone: to the head of a column, sort by it, and turn it round.
export async function sortsByKeyboard(page) {
  const column = async () => (await page.locator(`${by("device-row")} td:nth-child(${await nth(page, "took")})`).allTextContents()).map(secondsOf);
  await page.locator(by("sort-outcome")).focus();
  let steps = 0;
  while ((await page.evaluate(() => document.activeElement?.dataset.testid)) !== "sort-took") {
    assert.ok(++steps < 10, "the tab key does not reach the column");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  assert.equal(await page.locator('th[data-column="took"]').getAttribute("aria-sort"), "descending");
  const down = await column();
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  await page.keyboard.press("Space");
  assert.equal(await page.locator('th[data-column="took"]').getAttribute("aria-sort"), "ascending");
  const up = await column();
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
}

const nth = async (page, id) => (await page.locator(`thead th[data-column="${id}"]`).evaluate((head) => [...head.parentElement.children].indexOf(head))) + 1;
const units = { ms: 0.001, s: 1, min: 60, h: 3600, d: 86400 };
const secondsOf = (written) => [...written.matchAll(/([\d.]+) (ms|s|min|h|d)/g)].reduce((sum, [, value, unit]) => sum + Number(value) * units[unit], 0);

// Nothing is wider than the screen, but for what has a scroll bar of its own.
export async function fitsTheScreen(page) {
  const [content, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= screen, `the page is ${content} px wide on a screen of ${screen}`);
}

// From the request for the page to the run's being shown, in milliseconds.
export async function shownAfter(page) {
  await page.waitForFunction(() => performance.getEntriesByName("tributary-shown").length > 0);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  return page.evaluate(() => Math.max(performance.getEntriesByName("tributary-shown")[0].startTime, ...performance.getEntriesByType("paint").map((entry) => entry.startTime)));
}
