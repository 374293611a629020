import type { JsonObject } from '../../kernel/json/json.js'
import type { SpilledFields } from '../../kernel/spill/fields.js'

/** What the end of a call says that it put out: itself, or in which blob it lies. */
export interface Output {
  readonly output: JsonObject | null
  readonly spilled: SpilledFields
}

export const nothing: Output = { output: null, spilled: {} }

/** What is at hand as a whole. */
export const atHand =
  (output: JsonObject | null): (() => Promise<Output>) =>
  () =>
    Promise.resolve({ output, spilled: {} })
