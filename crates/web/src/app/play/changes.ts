// Changes during a run, for all compared queues at once: the rate, more flows, a parameter.

import { h, optionsNamed, selectField } from "../../dom.ts";
import type { About, Control, Frame, Kinds, Parameter } from "../../serve/protocol.ts";
import { formatQuantity, unitFor } from "../../units.ts";
import { valueOf } from "./model.ts";

export class Changes {
  readonly #kinds: Kinds;
  readonly #send: (control: Control) => void;
  #about: About | undefined;
  #rate = 0;
  readonly #now = h("span", { class: "hint" });
  readonly #place = h("div", { class: "changes-body" });
  readonly element = h("section", { class: "row changes", "aria-label": "Change while it runs", hidden: true }, h("div", { class: "changes-title" }, h("h2", {}, "Change while it runs"), this.#now), this.#place);

  constructor(kinds: Kinds, send: (control: Control) => void) {
    this.#kinds = kinds;
    this.#send = send;
  }

  /** Called when the description of a session arrives. */
  setAbout(about: About): void {
    this.#about = about;
    this.#place.replaceChildren(this.#rates(about), this.#flows(about), this.#parameter(about));
    this.element.hidden = false;
  }

  setEnabled(isEnabled: boolean): void {
    for (const control of this.#place.querySelectorAll<HTMLButtonElement | HTMLInputElement | HTMLSelectElement>("button, input, select")) control.disabled = !isEnabled;
    this.element.classList.toggle("off", !isEnabled);
  }

  setFrame(frame: Frame): void {
    const rate = frame.variants[0]?.link.rate_bit_s ?? 0;
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#now.textContent = `${this.#about?.link ?? "the link"}: ${formatQuantity(rate, "rate")}`;
  }

  #setRate(value: string): void {
    if (this.#about && value.trim() !== "") this.#send({ do: "rate", link: this.#about.link, value: value.trim() });
  }

  /** Multiplies the present rate. */
  #scale(factor: number): void {
    const rate = this.#rate * factor;
    const unit = unitFor("rate", rate);
    this.#setRate(`${Number((rate * unit.factor).toPrecision(9))} ${unit.symbol}`);
  }

  #rates(about: About): HTMLElement {
    const input = h("input", { id: "new-rate", class: "input short", type: "text", autocomplete: "off", placeholder: "new rate", title: "for example 8 Mbit/s", "aria-label": `New rate of ${about.link}` });
    const form = h("form", { class: "joined", onsubmit: (event) => (event.preventDefault(), this.#setRate(input.value)) }, input, h("button", { type: "submit", class: "button" }, "Set rate"));
    return h("div", { class: "row change-group" }, h("button", { type: "button", class: "button", onclick: () => this.#scale(0.5) }, "Halve the rate"), h("button", { type: "button", class: "button", onclick: () => this.#scale(2) }, "Double the rate"), form);
  }

  #flows(about: About): HTMLElement {
    const [first] = about.groups;
    const select = about.groups.length > 1 && h("select", { class: "select", "aria-label": "Group that gets more flows" }, ...about.groups.map(({ name }) => h("option", { value: name }, name)));
    const add = (count: number): void => {
      const group = select ? select.value : first?.name;
      if (group !== undefined) this.#send({ do: "add_flows", group, count });
    };
    const button = (count: number): HTMLElement => h("button", { type: "button", class: "button", onclick: () => add(count) }, `Add ${count === 1 ? "a flow" : "ten flows"}`);
    return h("div", { class: "row change-group" }, button(1), button(10), select);
  }

  #parameter(about: About): HTMLElement {
    const kinds = [...new Set(about.variants.map(({ kind }) => kind))];
    const parametersOf = (kind: string): readonly Parameter[] => this.#kinds.aqm.find((one) => one.kind === kind)?.parameters ?? [];
    const withAny = kinds.filter((kind) => parametersOf(kind).length > 0);
    const [firstKind] = withAny;
    if (firstKind === undefined) return h("div");
    let kind = firstKind;
    const key = h("select", { class: "select", "aria-label": "Parameter" });
    const value = h("input", { id: "new-value", class: "input short", type: "text", autocomplete: "off", "aria-label": "New value" });
    const fill = (): void => {
      key.replaceChildren(...parametersOf(kind).map((parameter) => h("option", { value: parameter.key }, parameter.key)));
      hint();
    };
    const hint = (): void => {
      const parameter = parametersOf(kind).find((one) => one.key === key.value);
      value.placeholder = parameter?.default === null || parameter === undefined ? "new value" : `default ${String(parameter.default)}`;
      value.title = parameter?.about ?? "";
    };
    key.addEventListener("change", hint);
    fill();
    const queue = withAny.length > 1 && selectField("of", optionsNamed(withAny), kind, ({ value: chosen }) => ((kind = chosen), fill()));
    const apply = (): void => {
      if (value.value.trim() === "") return;
      const touched = about.variants.map((variant, at) => ({ variant, at })).filter(({ variant }) => variant.kind === kind);
      // One request per queue of that kind; a single one if all queues are of that kind.
      if (touched.length === about.variants.length) this.#send({ do: "set", variant: null, link: about.link, key: key.value, value: valueOf(value.value) });
      else for (const { at } of touched) this.#send({ do: "set", variant: at, link: about.link, key: key.value, value: valueOf(value.value) });
    };
    const form = h("form", { class: "joined", onsubmit: (event) => (event.preventDefault(), apply()) }, key, value, h("button", { type: "submit", class: "button" }, "Set"));
    return h("div", { class: "row change-group" }, h("span", { class: "hint" }, "Parameter"), form, queue);
  }
}
