import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

// Where the program puts a run to make a report of the page. It looks for exactly these bytes, once.
export const placeholder = '<script id="board" type="application/json"></script>';

const hash = (text: string) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

// Puts the script and the style into the page, so that it is one file that asks for nothing, and has it forbid all the
// rest: only this script and this style run, and only the program that served the page is spoken to.
export function singleFile(): Plugin {
  return {
    name: "single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === "chunk") script += item.code;
        else if (name.endsWith(".css")) style += String(item.source);
        else continue;
        delete bundle[name];
      }
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("single-file: there is no index.html to put things into");
      // Neither may end its element early. In a script "<\/" means the same inside of strings, where alone it can be.
      script = script.trim().replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
      style = style.trim();
      if (/<\/style/i.test(style)) throw new Error("single-file: the style has </style in it");
      const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      const licence = readFileSync("node_modules/uplot/LICENSE", "utf8").trim().replace(/--/g, "- -");
      const html = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace("<!-- policy -->", () => `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace("<!-- style -->", () => `<style>${style}</style>`)
        .replace("<!-- licence -->", () => `<!-- Charts by uPlot:\n${licence}\n-->`)
        .replace("<!-- script -->", () => `<script>${script}</script>`);
      if (html.split(placeholder).length !== 2) throw new Error("single-file: the page must have one place for a board");
      if (/(src|href)="(?!data:|#)/.test(html.replace(script, "")))
        throw new Error("single-file: the page still asks for other files");
      page.source = html;
    },
  };
}
