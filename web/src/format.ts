// Numbers for people. Unknown values are a dash.

export const unknown = "–";

const isKnown = (value: number | null | undefined): value is number =>
  value !== null && value !== undefined && Number.isFinite(value);

// Three significant digits, without an exponent if possible: 0.0123, 1.23, 12.3, 123, 12,345.
export function formatNumber(value: number | null | undefined): string {
  if (!isKnown(value)) return unknown;
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e9) return value.toExponential(2);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  const text = value.toPrecision(3);
  return text.includes("e") ? String(Number(text)) : text;
}

export function formatCount(value: number | null | undefined): string {
  return isKnown(value) ? Math.round(value).toLocaleString("en-US") : unknown;
}

// 12.3 %.
export function formatShare(value: number | null | undefined, digits = 1): string {
  return isKnown(value) ? `${(value * 100).toFixed(digits)} %` : unknown;
}

const byteUnits = ["B", "kB", "MB", "GB", "TB", "PB"];

export function formatBytes(value: number | null | undefined): string {
  if (!isKnown(value)) return unknown;
  let size = value;
  let unit = 0;
  // 999.5 would be rounded to 1000.
  while (Math.abs(size) >= 999.5 && unit + 1 < byteUnits.length) {
    size /= 1000;
    ++unit;
  }
  const digits = unit === 0 || Math.abs(size) >= 99.95 ? 0 : Math.abs(size) >= 9.995 ? 1 : 2;
  return `${size.toFixed(digits)} ${byteUnits[unit]}`;
}

const trimmed = (value: number, digits: number) => value.toFixed(Number.isInteger(value) ? 0 : digits);

// 3.2 ms, 1.25 s, 42 s, 3 min 20 s, 2 h 5 min, 3 d 4 h.
export function formatSeconds(value: number | null | undefined): string {
  if (!isKnown(value)) return unknown;
  if (value < 0) return `−${formatSeconds(-value)}`;
  if (value === 0) return "0 s";
  if (value < 0.0995) return `${(value * 1000).toPrecision(value < 0.00995 ? 2 : 3)} ms`;
  if (value < 9.995) return `${trimmed(value, 2)} s`;
  if (value < 59.95) return `${trimmed(value, 1)} s`;
  const whole = Math.round(value);
  const parts: [number, string, number, string][] = [
    [86400, "d", 3600, "h"],
    [3600, "h", 60, "min"],
    [60, "min", 1, "s"],
  ];
  for (const [big, bigName, small, smallName] of parts) {
    const rounded = Math.round(whole / small) * small;
    if (rounded < big) continue;
    const rest = Math.round((rounded % big) / small);
    return `${Math.floor(rounded / big)} ${bigName}${rest > 0 ? ` ${rest} ${smallName}` : ""}`;
  }
  return `${whole} s`;
}

// Ticks of an axis up to `most`, all in the same unit.
export function formatSecondsTick(value: number, most: number): string {
  const [size, unit] =
    most < 0.2 ? [0.001, "ms"] : most < 180 ? [1, "s"] : most < 3 * 3600 ? [60, "min"] : most < 3 * 86400 ? [3600, "h"] : [86400, "d"];
  return `${Number((value / size).toPrecision(6))} ${unit}`;
}

export function formatBytesTick(value: number): string {
  return value === 0 ? "0" : formatBytes(value).replace(/\.0+ /, " ").replace(/(\.\d*[1-9])0+ /, "$1 ");
}

export function formatCountTick(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))} M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(4))} k`;
  return String(Number(value.toPrecision(6)));
}

export const formatShareTick = (value: number): string => `${Number((value * 100).toPrecision(4))} %`;
