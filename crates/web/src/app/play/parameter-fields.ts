// Inputs for the parameters of an algorithm or a kind of traffic, made from the server's list of
// them.

import { dropDown, h, optionsNamed } from "../../dom.ts";
import type { Parameter, Value } from "../../serve/protocol.ts";
import { type Settings, valueOf } from "./model.ts";

/** Inputs for `parameters`; `id` begins the ids of the inputs, `onSet` gets the empty text for
 *  "the default". */
export function parameterFields(id: string, parameters: readonly Parameter[], settings: Settings, onSet: (key: string, value: Value) => void): HTMLElement {
  const fields = parameters.map((parameter) => {
    const own = `${id}-${parameter.key}`;
    const input = parameterInput(own, parameter, settings[parameter.key], (value) => onSet(parameter.key, value));
    return h("div", { class: "parameter" }, h("label", { for: own }, parameter.key), input, h("p", { class: "hint", id: `${own}-hint` }, hintOf(parameter)));
  });
  return h("div", { class: "parameters" }, ...fields);
}

/** The input alone: a list where the values are named, else a line of text. */
export function parameterInput(id: string, parameter: Parameter, value: Value | undefined, onSet: (value: Value) => void): HTMLElement {
  const choices = choicesOf(parameter);
  const preset = parameter.default === null ? "" : String(parameter.default);
  if (choices) {
    const options = [{ value: "", label: preset === "" ? "default" : `default: ${preset}` }, ...optionsNamed(choices)];
    return dropDown({ id, "aria-describedby": `${id}-hint` }, options, value === undefined ? "" : String(value), (chosen) => onSet(valueOf(chosen.value)));
  }
  const text = value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  const input = h("input", { id, class: "input", type: "text", autocomplete: "off", spellcheck: "false", value: text, placeholder: preset, "aria-describedby": `${id}-hint`, onchange: () => onSet(valueOf(input.value)) });
  return input;
}

/** The values that a parameter can have, if they are few and named. */
function choicesOf({ unit }: Parameter): string[] | undefined {
  if (/^true or false$|^bool(ean)?$/.test(unit)) return ["true", "false"];
  return unit.includes(" | ") ? unit.split(" | ") : undefined;
}

function hintOf({ about, min, max, example }: Parameter): string {
  const range = min !== undefined && min !== null && max !== undefined && max !== null ? ` (${min} to ${max})` : "";
  const instance = range === "" && typeof example === "string" ? `; for instance ${example}` : "";
  return `${about}${range}${instance}`;
}
