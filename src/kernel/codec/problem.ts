import type { JsonObject } from '../json/json.js'

/** A place in a text that is wrong, in UTF-16 units from 0, and what could stand there instead. */
export interface ErrorPlace {
  readonly start: number
  readonly end: number
  readonly suggestion: string | null
}

/**
 * A validation problem in FastAPI's format. `loc` starts below the input's root; the HTTP layer prepends `body`,
 * `query` or `path`. Never quotes the received value.
 */
export interface Problem {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** A pydantic error type, such as `missing` or `string_type`. */
  readonly type: string
  /** The place within the text of a template or a pattern. */
  readonly ctx?: ErrorPlace
}

export const problemJson = ({ ctx, ...problem }: Problem): JsonObject =>
  ctx === undefined ? problem : { ...problem, ctx: { ...ctx } }

export const problemSchema = {
  title: 'ValidationError',
  type: 'object',
  properties: {
    loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
    msg: { type: 'string' },
    type: { type: 'string' },
    ctx: {
      type: 'object',
      description: 'The place within the text of a template or a pattern.',
      properties: {
        start: { type: 'integer' },
        end: { type: 'integer' },
        suggestion: { type: ['string', 'null'] },
      },
      required: ['start', 'end', 'suggestion'],
    },
  },
  required: ['loc', 'msg', 'type'],
}
