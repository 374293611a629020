import type { Json } from '../../../kernel/json/json.js'
import type { Scored } from '../scoring.js'

/** Scores one output. `target` is undefined where the scorer does not take one. */
export type Rule = (output: Json, target: Json | undefined) => Scored
