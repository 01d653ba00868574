// A browser for the tests: Debian's Chromium, or the one that CHROMIUM names.
import { mkdirSync } from "node:fs";
import { chromium } from "playwright-core";

export const executable = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const shots = process.env.SCREENSHOTS ?? new URL("../screenshots/", import.meta.url).pathname;

export async function launch() {
  mkdirSync(shots, { recursive: true });
  return chromium.launch({ executablePath: executable, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

// A page and what it did: the requests it made, what it complained of.
export async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  return { context, page, requests, complaints, close: () => context.close() };
}
