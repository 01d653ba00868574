export interface ServerEvent {
  event: string;
  data: string;
}

// Parses a stream of server-sent events, in pieces of any size. Unlike EventSource it also notices comments,
// by which an idle program shows that it is alive.
export class EventParser {
  private rest = "";
  private event = "";
  private data: string[] = [];
  private held = 0;

  constructor(private readonly most = 64 << 20) {}

  // The events that this piece completes. Throws if an event exceeds the limit.
  feed(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.data.length > 0) events.push({ event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
        this.held = 0;
        continue;
      }
      const colon = line.indexOf(":");
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
      if (field === "event") this.event = value;
      else if (field === "data") {
        this.data.push(value);
        this.held += value.length;
      }
    }
    if (this.held + this.rest.length > this.most) throw new Error("an event of the program is too large");
    return events;
  }
}
