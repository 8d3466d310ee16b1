// The report: reads the data embedded in the page and shows it.

import "../theme.css";
import "../charts/charts.css";
import "../charts/card.css";
import "./tables.css";
import "./report.css";
import "./print.css";
import { h, messageOf } from "../dom.ts";
import { parseResult } from "./data.ts";
import { showReport } from "./page.ts";

async function start(): Promise<void> {
  const root = document.getElementById("report");
  const source = document.getElementById("goodqueue-data")?.textContent ?? "";
  if (!root) return;
  // Text on a canvas keeps the font it was drawn with, so the font has to be ready first.
  await Promise.allSettled([document.fonts.load("12px Inter"), document.fonts.load("600 12px Inter")]);
  try {
    showReport(root, parseResult(source), source);
  } catch (error) {
    root.replaceChildren(h("h1", {}, "This report cannot be shown"), h("p", {}, messageOf(error)));
    throw error;
  }
}

void start();
