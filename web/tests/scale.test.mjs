// A run of many devices and rounds, played by PLAYER (tests/integration/run_player.cc) while the page looks on, and the
// REPORT of one from disk. PLAY is for how many seconds it plays; DEVICES and ROUNDS are what is played.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { launch, open, shots } from "./browser.mjs";
import { loads, text } from "./checks.mjs";

const { PLAYER: player, REPORT: report } = process.env;
const devices = Number(process.env.DEVICES ?? 1000);
const rounds = Number(process.env.ROUNDS ?? 10_000);
const seconds = Number(process.env.PLAY ?? 20);
const skip = player === undefined || report === undefined ? "PLAYER and REPORT are not set" : false;
const mostMs = 2000; // until the run is to be seen

let browser;
before(async () => void (skip || (browser = await launch())));
after(() => browser?.close());

// Notes the first frame after one in which charts, map and table were drawn.
function watchDrawing() {
  const drawn = () => {
    const canvas = document.querySelector('[data-testid="chart-loss"] canvas');
    return (
      Number(document.querySelector('[data-testid="chart-loss"]')?.dataset.points) > 0 &&
      canvas !== null &&
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0) &&
      document.querySelectorAll('[data-testid="fleet-map"] .cell').length > 0 &&
      document.querySelector('[data-testid="device-row"] [data-testid="device-state"]')?.textContent !== ""
    );
  };
  const look = () => (document.querySelector('[data-testid="device-row"]') && drawn() ? requestAnimationFrame(() => (window.drawnAt = performance.now())) : requestAnimationFrame(look));
  requestAnimationFrame(look);
}

// Milliseconds from the request for the page to the first paint of anything, and to the frame after which all is to be seen.
async function shown(page) {
  await page.waitForFunction(() => window.drawnAt !== undefined);
  return page.evaluate(() => ({ paint: performance.getEntriesByName("first-contentful-paint")[0].startTime, drawn: window.drawnAt }));
}

function check(what, { paint, drawn }) {
  console.log(`${what}: first contentful paint after ${paint.toFixed(0)} ms, charts and table after ${drawn.toFixed(0)} ms`);
  assert.ok(paint < mostMs && drawn < mostMs, `${what}: painted after ${paint} ms, drawn after ${drawn} ms`);
}

async function meter(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("Performance.enable");
  return session;
}

// What the page holds after a collection of what it no longer needs.
async function held(session) {
  for (let i = 0; i < 2; ++i) await session.send("HeapProfiler.collectGarbage");
  const metrics = Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  return { heap: metrics.JSHeapUsedSize / 1e6, nodes: metrics.Nodes, listeners: metrics.JSEventListeners, used: metrics.ProcessTime };
}

// Of the largest renderer, what the system counts.
async function resident() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const sizes = processInfo.filter(({ type }) => type === "renderer").map(({ id }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1024);
  return Math.max(...sizes);
}

class Player {
  constructor() {
    this.child = spawn(player, ["serve", String(devices), String(rounds)], { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }
  async hear(word) {
    const { value } = await this.lines.next();
    assert.ok(value?.startsWith(word), `the player said ${value}`);
    return value.slice(word.length);
  }
  play(round, duration) {
    this.child.stdin.write(`play ${round} ${duration}\n`);
    return this.hear("at ");
  }
  end() {
    this.child.stdin.end();
    return new Promise((done) => (this.child.exitCode !== null ? done() : this.child.once("exit", done)));
  }
}

test(`the page of ${devices} devices is there within two seconds, and what it holds does not grow over ${rounds} rounds`, { skip }, async () => {
  const playing = new Player();
  try {
    const url = await playing.hear("dashboard at ");
    const early = Math.round(rounds / 5);
    await playing.play(100, 0);
    const { page, complaints, close } = await open(browser);
    await page.addInitScript(watchDrawing);
    await page.goto(url);
    check("in round 100", await shown(page));
    await loads(page, { devices });
    const session = await meter(page);
    const until = async (round, duration) => {
      await playing.play(round, duration);
      await page.waitForFunction((wanted) => document.querySelector('[data-testid="round"]').textContent.replaceAll(",", "").split(" ")[0] === wanted, String(round), { timeout: 10_000 });
    };
    await until(early, seconds / 5);
    const before = { ...(await held(session)), rss: await resident() };
    await until(rounds, (seconds * 4) / 5);
    await page.locator('[data-testid="run-state"][data-state="finished"]').waitFor();
    const end = { ...(await held(session)), rss: await resident() };
    const say = (each) => `heap ${each.heap.toFixed(2)} MB, ${each.nodes} nodes, ${each.listeners} listeners, process ${each.rss.toFixed(0)} MB`;
    console.log(`after round ${early}: ${say(before)}`);
    console.log(`after round ${rounds}: ${say(end)}`);
    console.log(`in between, over ${((seconds * 4) / 5).toFixed(0)} s, the page's process has used ${(end.used - before.used).toFixed(2)} s of a processor`);
    // Points are thinned where there are more than a thousand, so that either moment may have up to twice the other's.
    assert.ok(end.heap < before.heap + 2, `the heap grew from ${before.heap} to ${end.heap} MB`);
    assert.ok(end.heap < 24, `the heap has ${end.heap} MB`);
    assert.ok(end.nodes < before.nodes + 500 && end.listeners < before.listeners + 50, `${JSON.stringify(before)} became ${JSON.stringify(end)}`);
    const points = Number(await page.locator('[data-testid="chart-waiting"]').getAttribute("data-points"));
    assert.ok(points <= 1000, `${points} points`);
    await page.screenshot({ path: join(shots, "scale.png") });
    assert.deepEqual(complaints, []);
    await close();

    // One who comes now.
    const late = await open(browser);
    await late.page.addInitScript(watchDrawing);
    await late.page.goto(url);
    check(`in round ${rounds}`, await shown(late.page));
    await late.close();
  } finally {
    await playing.end();
  }
});

test("a report of as much is there within two seconds", { skip }, async () => {
  const { page, complaints, close } = await open(browser);
  await page.addInitScript(watchDrawing);
  await page.goto(pathToFileURL(resolve(report)).href);
  check("report", await shown(page));
  const { heap, nodes } = await held(await meter(page));
  console.log(`report: heap ${heap.toFixed(2)} MB, ${nodes} nodes`);
  assert.match(await text(page, "matching"), new RegExp(`^${devices.toLocaleString("en")} devices`));
  assert.deepEqual(complaints, []);
  await close();
});
