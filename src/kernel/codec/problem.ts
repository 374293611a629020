/**
 * A validation problem in FastAPI's format. `loc` starts below the input's root; the HTTP layer prepends `body`,
 * `query` or `path`. Never quotes the received value.
 */
export interface Problem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** A pydantic error type, such as `missing` or `string_type`. */
  readonly type: string
}

export const problemSchema = {
  title: 'ValidationError',
  type: 'object',
  properties: {
    loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    msg: { type: 'string' },
    type: { type: 'string' },
  },
  required: ['loc', 'msg', 'type'],
}
