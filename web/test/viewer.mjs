// Drives the viewer's page in a real browser and looks at what it shows.
//
//   node viewer.mjs URL CHROMIUM FOLDER
//
// Screenshots go to FOLDER. Ends with an error where something is not as it should be.

import { chromium } from "playwright-core";

const [url, executablePath, folder] = process.argv.slice(2);
const flags = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--no-sandbox"];
const browser = await chromium.launch({ executablePath, args: flags });

function must(isSo, what) {
  if (!isSo) throw new Error(what);
}

// Pictures are read and compared in a blank page of their own: the viewer's policy does
// not let its page read them, and pixels are too many to be handed over.
const reader = await browser.newPage();
await reader.evaluate(() => {
  window.pictures = {};
  window.kinds = {
    blue: (r, g, b) => b > r + 25 && b > g + 10,
    red: (r, g, b) => r > g + 40 && r > b + 40,
  };
});

async function keep(name, png) {
  const data = `data:image/png;base64,${png.toString("base64")}`;
  await reader.evaluate(
    async ([name, data]) => {
      const image = await createImageBitmap(await (await fetch(data)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      window.pictures[name] = context.getImageData(0, 0, image.width, image.height).data;
    },
    [name, data],
  );
  return name;
}

/** How many pixels of a picture are of a kind. */
function count(name, kind) {
  return reader.evaluate(
    ([name, kind]) => {
      const data = window.pictures[name];
      let n = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (window.kinds[kind](data[i], data[i + 1], data[i + 2])) n++;
      }
      return n;
    },
    [name, kind],
  );
}

/** How many pixels of two pictures differ clearly. */
function changed(one, other) {
  return reader.evaluate(
    ([one, other]) => {
      const [a, b] = [window.pictures[one], window.pictures[other]];
      let n = 0;
      for (let i = 0; i < a.length; i += 4) {
        let d = 0;
        for (let k = 0; k < 3; k++) d += Math.abs(a[i + k] - b[i + k]);
        if (d > 60) n++;
      }
      return n;
    },
    [one, other],
  );
}

/** How bright the first pixel of a picture is, from 0 to 765. */
function brightness(name) {
  return reader.evaluate((name) => {
    const [r, g, b] = window.pictures[name];
    return r + g + b;
  }, name);
}

async function open(size, scheme) {
  const page = await browser.newPage({ viewport: size, colorScheme: scheme });
  const errors = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => Number(document.body.dataset.frame) >= 2);
  const shot = async (name) => {
    await page.waitForFunction(() => document.body.dataset.ready === "true");
    // Two frames of the browser's, so that what is ready is drawn.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    await page.screenshot({ path: `${folder}/${name}.png` });
    // What is compared is the drawing, without figures that tell how long things took.
    const figures = page.locator("#labels");
    await figures.evaluate((own) => (own.style.visibility = "hidden"));
    const png = await page.locator("#stage").screenshot();
    await figures.evaluate((own) => (own.style.visibility = ""));
    return keep(name, png);
  };
  return { page, shot, errors };
}

try {
  const { page, shot, errors } = await open({ width: 1280, height: 720 }, "light");
  page.setDefaultTimeout(60_000);
  const panes = await page.locator(".pane h2").allTextContents();
  must(panes.length >= 3 && panes[0] === "simulation", `panes are ${panes}`);

  // It plays, and a garment is seen.
  const frame = () => page.evaluate(() => Number(document.body.dataset.frame));
  const first = await frame();
  await page.waitForFunction((was) => Number(document.body.dataset.frame) !== was, first);
  await page.keyboard.press("Space");
  const plain = await shot("plain");
  const [blue, red] = [await count(plain, "blue"), await count(plain, "red")];
  must(blue > 500 && red > 500, `${blue} pixels of the simulated garment, ${red} of the skinned`);

  // Scrubbing and stepping.
  await page.locator("#scrub").fill("1");
  await page.waitForFunction(() => document.body.dataset.frame === "1");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.body.dataset.frame === "2");
  const still = await shot("still");
  must((await changed(still, await shot("again"))) === 0, "a frame that stands still changes");

  // The heat map has its colours and its bar.
  await page.keyboard.press("h");
  await page.locator("#legend").waitFor({ state: "visible" });
  const heat = await shot("heat");
  must((await changed(still, heat)) > 500, "the heat map changes nothing");
  must((await count(heat, "red")) < (await count(still, "red")) / 4, "the skinned garment is not painted");
  await page.keyboard.press("h");

  // A slider changes the body and what is worn.
  const shapes = await page.locator("#sliders input").count();
  if (shapes > 0) {
    const slider = page.locator("#sliders input").first();
    await slider.fill(await slider.getAttribute("max"));
    must((await changed(still, await shot("shaped"))) > 300, "a slider changes nothing");
    await page.locator("#own-shape").click();
    must((await changed(still, await shot("own"))) < 100, "the own shape is another than before");
  }

  // Methods are switched off and on.
  const isShowing = (n) =>
    page.waitForFunction(
      (n) => [...document.querySelectorAll(".pane")].filter((p) => !p.hidden).length === n,
      n,
    );
  await page.locator('#panes input[data-pane="skinning"]').uncheck();
  await isShowing(panes.length - 2);
  await page.locator("#stage").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("2");
  await isShowing(panes.length - 1);

  // What is inside the body is measured and said; what a method works with is drawn.
  await page.locator("#deep").check();
  await page.waitForFunction(() =>
    [...document.querySelectorAll(".pane:not([hidden]) p")].every((p) => p.textContent.includes("mm inside")),
  );
  must((await changed(still, await shot("deep"))) > 300, "what is inside is not painted");
  await page.locator("#deep").uncheck();
  must((await page.locator(".bars:visible").count()) === 0, "bars before they are asked for");
  await page.locator("#work").check();
  const bars = page.locator(".bars:visible").first();
  await bars.waitFor();
  // What a vector of the basis moves is painted where its bar is pointed at, or was clicked.
  const unpainted = await shot("bars");
  const isVector = () => page.evaluate(() => /vector 1 of \d+: moves/.test(document.body.innerText));
  const isSaid = (is) =>
    page.waitForFunction((is) => /vector 1 of \d+: moves/.test(document.body.innerText) === is, is);
  await bars.hover({ position: { x: 1, y: 3 } });
  await isSaid(true);
  // It stays so: what is said does not push the bars away.
  await page.waitForTimeout(300);
  must(await isVector(), "a vector that is pointed at is not shown on");
  await page.mouse.move(5, 400);
  await isSaid(false);
  await bars.click({ position: { x: 1, y: 10 } });
  await page.mouse.move(5, 400);
  await isSaid(true);
  must((await changed(unpainted, await shot("vector"))) > 300, "a vector is not painted");
  await page.locator("#work").uncheck();
  await isSaid(false);

  // Cloth is simulated while it is watched, and wind moves it.
  await page.locator('#panes input[data-pane="live"]').check();
  await isShowing(panes.length);
  await page.locator("#scrub").fill("8");
  const calm = await shot("calm");
  await page.locator("#wind-speed").fill("12");
  await page.locator("#wind-speed").dispatchEvent("change");
  const windy = await shot("windy");
  must((await changed(calm, windy)) > 50, "wind moves nothing");
  await page.locator('#panes input[data-pane="live"]').uncheck();

  // A crowd moves, with its figures.
  await page.locator("#crowd-count").selectOption("100");
  await page.locator("#crowd").check();
  const crowds = (n) => page.waitForFunction((n) => Number(document.body.dataset.crowd) > n, n);
  await crowds(0);
  await page.waitForTimeout(200);
  const one = await keep("crowd", await page.locator("#stage").screenshot({ path: `${folder}/crowd.png` }));
  await page.keyboard.press("Space");
  const seen = Number(await page.evaluate(() => document.body.dataset.crowd));
  await crowds(seen + 3);
  const other = await keep("later", await page.locator("#stage").screenshot());
  must((await changed(one, other)) > 200, "the crowd stands still");
  const said = await page.locator("#crowd-figures").textContent();
  must(/100 characters, [\d.]+ frames\/s/.test(said ?? ""), `the crowd says ${said}`);
  await page.locator("#crowd").uncheck();
  await isShowing(panes.length - 1);
  await page.keyboard.press("Space");

  // Every other switch does something and breaks nothing.
  for (const key of ["w", "w", "b", "b", "o", "o", "c", "c", "f", "r", "l"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(100);
  }
  const dark = await shot("dark");
  must((await brightness(dark)) < 200, "it does not turn dark");
  const clips = await page.locator("#clip option").evaluateAll((all) => all.map((o) => o.value));
  for (const clip of clips.slice(0, 2)) {
    await page.locator("#clip").selectOption(clip);
    await page.waitForFunction(() => document.getElementById("message")?.textContent === "");
  }
  must(errors.length === 0, `errors on the console: ${errors.join("; ")}`);

  // A phone.
  const phone = await open({ width: 390, height: 844 }, "dark");
  const small = await phone.shot("phone");
  must((await count(small, "blue")) > 200, "no garment on a phone");
  const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  must(wide <= 390, `the page is ${wide} pixels wide on a phone`);
  must(phone.errors.length === 0, `errors on the console: ${phone.errors.join("; ")}`);
  console.log(`viewer: ${panes.length} panes, ${clips.length} clips, all well`);
} finally {
  await browser.close();
}
