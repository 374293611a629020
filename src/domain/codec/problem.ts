/**
 * One thing wrong with an input, in the shape of a FastAPI validation error. `loc` starts below the
 * input's root; the edge prepends `body`, `query` or `path`. The received value is never quoted.
 */
export interface Problem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** A pydantic error type, such as `missing` or `string_type`. */
  readonly type: string
}
