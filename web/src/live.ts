import { EventParser } from "./sse";

// connecting: no response yet. live: responding. lost: no response for a while; retries automatically. ended:
// the run is over and the program has exited. refused: the program requires a token. report: a page from
// disk, without a program.
export type Connection = "connecting" | "live" | "lost" | "ended" | "refused" | "report";

export interface Listener {
  onEvent(event: string, value: unknown): void;
  onConnection(state: Connection, why: string): void;
  // Whether the run is over, so that the program's exit is not an error.
  finished(): boolean;
}

const silenceMs = 2700;  // the program sends something every 2 s; "lost" after this time,
const hangUpMs = 8000;  // and reconnect after this time
const pausesMs = [500, 1000, 2000, 3000];

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

class Refused extends Error {}

// Follows the program that served this page while the page is open.
export class Live {
  private heard = 0;  // time of the last data; 0 while disconnected
  private tries = 0;
  private over = false;  // the program closed the connection after the run

  constructor(
    private readonly token: string,
    private readonly listener: Listener,
  ) {}

  async follow(): Promise<void> {
    let first = true;
    this.listener.onConnection("connecting", "");
    setInterval(() => this.watch(), 100);
    for (;;) {
      try {
        if (first) this.listener.onEvent("board", await this.board());
        first = false;
        await this.events();
      } catch (error) {
        if (error instanceof Refused) {
          this.listener.onConnection("refused", error.message);
          return;
        }
        this.lost(error instanceof Error ? error.message : String(error));
      }
      await sleep(pausesMs[Math.min(this.tries++, pausesMs.length - 1)] as number);
    }
  }

  private lost(why: string): void {
    this.heard = 0;
    this.over = this.listener.finished();
    this.listener.onConnection(this.over ? "ended" : "lost", why);
  }

  private watch(): void {
    if (this.heard > 0 && performance.now() - this.heard > silenceMs) this.lost("silence");
  }

  private hear(): void {
    const wasSilent = this.heard === 0;
    this.heard = performance.now();
    this.tries = 0;
    // A finished program that still responds has no news.
    if (wasSilent && !this.over) this.listener.onConnection("live", "");
  }

  private async ask(path: string, signal?: AbortSignal): Promise<Response> {
    const query = this.token === "" ? "" : `?token=${encodeURIComponent(this.token)}`;
    const response = await fetch(path + query, { cache: "no-store", credentials: "same-origin", signal: signal ?? null });
    if (response.status === 401 || response.status === 403)
      throw new Refused("Open the address that the program printed; it ends in ?token=…");
    if (!response.ok) throw new Error(`the program answered ${response.status}`);
    return response;
  }

  private async board(): Promise<unknown> {
    const hangUp = new AbortController();
    const timer = setTimeout(() => hangUp.abort(), hangUpMs);
    try {
      return await (await this.ask("api/board", hangUp.signal)).json();
    } finally {
      clearTimeout(timer);
    }
  }

  // Returns or throws when the stream ends.
  private async events(): Promise<void> {
    const hangUp = new AbortController();
    let timer = setTimeout(() => hangUp.abort(), hangUpMs);
    try {
      const body = (await this.ask("api/events", hangUp.signal)).body;
      if (body === null) throw new Error("the program sent no events");
      const reader = body.getReader();
      const decoder = new TextDecoder();
      const parser = new EventParser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Error("the program closed the connection");
        clearTimeout(timer);
        timer = setTimeout(() => hangUp.abort(), hangUpMs);
        this.hear();
        for (const { event, data } of parser.feed(decoder.decode(value, { stream: true })))
          this.listener.onEvent(event, JSON.parse(data));
        if (this.over && !this.listener.finished()) {
          this.over = false;
          this.listener.onConnection("live", "");
        }
      }
    } finally {
      clearTimeout(timer);
      hangUp.abort();
    }
  }
}

// The token from the page's address. It is removed from the address bar, so that it is not copied with a
// link, and kept in this tab for a reload.
export function takeToken(): string {
  const key = "tributary-token";
  const address = new URL(location.href);
  const token = address.searchParams.get("token");
  try {
    if (token === null) return sessionStorage.getItem(key) ?? "";
    sessionStorage.setItem(key, token);
  } catch {
    // Without storage the token is needed again after a reload.
  }
  if (token === null) return "";
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
  return token;
}
