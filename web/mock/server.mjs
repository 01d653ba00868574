// Serves the built page and a mock run to it:
//   node mock/server.mjs [--port 8123] [--devices 12] [--rounds 120] [--skip 20] [--round-ms 1500] [--still] [--token T]
// Beside what the program serves there is POST /mock/gone?device=3, /mock/back?device=3, /mock/silent and /mock/loud.
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MockRun } from "./run.mjs";

const page = new URL("../dist/index.html", import.meta.url);
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export async function serve({ port = 0, skip = 0, roundMs = 1500, still = false, token = "", ...facts } = {}) {
  const run = new MockRun(facts).skip(skip);
  const listeners = new Set();
  let silent = false;
  let begun = 0;
  const send = (response, event, value) => response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);

  const tick = () => {
    if (!still && run.now.state !== "finished") {
      if (begun === 0 || Date.now() - begun >= roundMs) {
        if (begun !== 0) run.finish();
        run.begin();
        begun = Date.now();
      }
      if (run.now.state !== "finished") run.show((Date.now() - begun) / roundMs);
    }
    if (silent) return;
    for (const listener of listeners) {
      const { response } = listener;
      if (listener.thinnings !== run.rounds.thinnings) send(response, "board", run.board());
      else {
        if (listener.rounds !== run.rounds.seen) send(response, "points", run.points(listener.rounds, listener.evaluations));
        send(response, "now", run.now);
        if (Date.now() - listener.devices >= 500) {
          send(response, "devices", run.devicesPart());
          listener.devices = Date.now();
        }
        if (listener.notes !== run.notes) send(response, "notes", run.notes);
      }
      Object.assign(listener, { rounds: run.rounds.seen, evaluations: run.evaluations.seen, thinnings: run.rounds.thinnings, notes: run.notes });
    }
  };
  const timer = setInterval(tick, 250);

  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    const head = (type) => ({ "Content-Type": type, "Content-Security-Policy": policy, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
    // The page itself tells nothing of a run, so that it can be loaded again once the token has left its address.
    if (token !== "" && url.pathname !== "/" && url.searchParams.get("token") !== token) {
      response.writeHead(401, head("text/plain")).end("token\n");
    } else if (url.pathname === "/") {
      response.writeHead(200, head("text/html; charset=utf-8")).end(readFileSync(page));
    } else if (url.pathname === "/api/board") {
      response.writeHead(200, head("application/json")).end(JSON.stringify(run.board()));
    } else if (url.pathname === "/api/events") {
      response.writeHead(200, head("text/event-stream"));
      send(response, "board", run.board());
      const listener = { response, rounds: run.rounds.seen, evaluations: run.evaluations.seen, thinnings: run.rounds.thinnings, notes: run.notes, devices: 0 };
      listeners.add(listener);
      request.on("close", () => listeners.delete(listener));
    } else if (request.method === "POST" && url.pathname.startsWith("/mock/")) {
      const device = Number(url.searchParams.get("device"));
      if (url.pathname === "/mock/gone") run.lose(device);
      else if (url.pathname === "/mock/back") run.find(device);
      else silent = url.pathname === "/mock/silent";
      response.writeHead(204).end();
    } else {
      response.writeHead(404, head("text/plain")).end("nothing here\n");
    }
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    run,
    silence: (value) => void (silent = value),
    hangUp: () => listeners.forEach(({ response }) => response.destroy()),
    async close() {
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

// The page with a run in it, as `tributary report` writes it.
export function report(board) {
  const place = '<script id="board" type="application/json"></script>';
  const html = readFileSync(page, "utf8");
  if (html.split(place).length !== 2) throw new Error("the page has no place for a board");
  return html.replace(place, () => place.replace("></", () => `>${JSON.stringify(board).replaceAll("<", "\\u003c")}</`));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = (await import("node:util")).parseArgs({
    options: { port: { type: "string" }, devices: { type: "string" }, rounds: { type: "string" }, skip: { type: "string" }, "round-ms": { type: "string" }, still: { type: "boolean" }, token: { type: "string" } },
  });
  if (!existsSync(page)) throw new Error("there is no dist/index.html yet: npm run build");
  const number = (text, otherwise) => (text === undefined ? otherwise : Number(text));
  const { url } = await serve({
    port: number(values.port, 8123),
    devices: number(values.devices, 12),
    rounds: number(values.rounds, 120),
    skip: number(values.skip, 20),
    roundMs: number(values["round-ms"], 1500),
    still: values.still ?? false,
    token: values.token ?? "",
  });
  console.log(url + (values.token ? `?token=${values.token}` : ""));
}
