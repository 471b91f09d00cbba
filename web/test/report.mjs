// Opens a report in a real browser, plays its clip and looks at it.
//
//   node report.mjs FILE CHROMIUM FOLDER

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, executablePath, folder] = process.argv.slice(2);
const flags = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--no-sandbox"];
const browser = await chromium.launch({ executablePath, args: flags });

function must(isSo, what) {
  if (!isSo) throw new Error(what);
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  page.setDefaultTimeout(60_000);
  const errors = [];
  const asked = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) asked.push(request.url());
  });
  await page.goto(String(pathToFileURL(file)));
  const clip = page.locator(".clip");
  await clip.scrollIntoViewIfNeeded();
  const frame = () => clip.evaluate((own) => Number(own.dataset.frame));
  await page.waitForFunction(() => document.querySelector(".clip")?.dataset.frame === "0");
  const shot = async (name) => {
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    return page.locator(".clip-stage").screenshot({ path: `${folder}/${name}.png` });
  };
  const still = await shot("report");
  must(still.equals(await shot("report")), "a clip that stands still changes");
  const panes = await page.locator(".clip-pane").allTextContents();
  must(panes[0] === "simulation" && panes.length >= 2, `panes are ${panes}`);
  must(/cm$/.test(panes[1]), `${panes[1]} is not compared`);
  await page.locator(".clip-row [type=range]").fill("5");
  await page.waitForFunction(() => document.querySelector(".clip")?.dataset.frame === "5");
  const moved = await shot("report-later");
  must(!moved.equals(still), "another frame looks the same");
  await page.locator(".clip-row [type=checkbox]").check();
  must(!moved.equals(await shot("report-heat")), "distances are not painted");
  await page.locator(".clip-row button").click();
  await page.waitForFunction(() => document.querySelector(".clip")?.dataset.frame !== "5");
  await page.screenshot({ path: `${folder}/report-page.png` });
  must(errors.length === 0, `errors on the console: ${errors.join("; ")}`);
  must(asked.length === 1, `the report asks for ${asked.slice(1)}`);
  console.log(`report: ${panes.length} panes, frame ${await frame()}, all well`);
} finally {
  await browser.close();
}
