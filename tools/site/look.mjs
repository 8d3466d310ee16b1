// Opens the pages of the built site in the system's Chromium, light and dark, at 1440 and 390 pixels:
//   node tools/site/look.mjs SITE FOLDER [PAGE...]
// Leaves a picture of each in FOLDER. Fails when a page asks for something from another place, reports
// an error, or is wider than the window, when a picture is missing, or when the search finds nothing.
// Needs the packages of crates/web (npm --prefix crates/web ci).

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const { chromium } = createRequire(resolve(import.meta.dirname, "../../crates/web/package.json"))("playwright-core");
const [site, folder, ...named] = process.argv.slice(2);
if (folder === undefined) {
  console.error("usage: look.mjs SITE FOLDER [PAGE...]");
  process.exit(2);
}
const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = places.find((place) => place !== undefined && existsSync(place));
if (executablePath === undefined) {
  console.log("skipped: pictures of the site (no Chromium; CHROMIUM names one)");
  process.exit(0);
}
mkdirSync(folder, { recursive: true });
const all = readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html") && name !== "404.html");
const pages = named.length > 0 ? named : all.sort();
const faults = [];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });

for (const [width, height] of [
  [1440, 1000],
  [390, 844],
]) {
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    const page = await context.newPage();
    let name = "";
    page.on("request", (request) => {
      if (!/^(file|data|blob):/.test(request.url())) faults.push(`${name}: asks for ${request.url()}`);
    });
    page.on("pageerror", (error) => faults.push(`${name}: ${error}`));
    for (name of pages) {
      await page.goto(`file://${resolve(site, name)}`);
      // Pages that start by a script say so until they have.
      await page.waitForFunction(() => !/ is starting\.$/.test(document.body.innerText.trim()), undefined, { timeout: 30_000 }).catch(() => faults.push(`${name}: does not start`));
      const { wide, missing } = await page.evaluate(() => ({
        wide: document.documentElement.scrollWidth,
        missing: [...document.images].filter((image) => image.complete && image.naturalWidth === 0).map((image) => image.src),
      }));
      if (wide > width) faults.push(`${name}: is ${wide} pixels wide at ${width}`);
      faults.push(...missing.map((source) => `${name}: lacks the picture ${source}`));
      await page.screenshot({ path: join(folder, `${name.replace(/\.html$/, "").replaceAll("/", "_")}-${width}-${colorScheme}.png`) });
    }
    await context.close();
  }
}

const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
await page.goto(`file://${resolve(site, "index.html")}`);
await page.locator(".md-search__input").click();
await page.keyboard.type("codel");
await page
  .locator(".md-search-result__item")
  .first()
  .waitFor({ timeout: 20_000 })
  .catch(() => faults.push("index.html: the search finds nothing"));
await browser.close();

for (const fault of [...new Set(faults)]) console.error(`site: ${fault}`);
console.log(`site: ${pages.length} pages looked at, ${4 * pages.length} pictures in ${folder}, ${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);
