import * as t from 'io-ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { Codec, leaf, refuse } from './codec.js'

/** A string without lone surrogates, which UTF-8 cannot encode. */
export const string = leaf<string>(
  'string',
  (u): u is string => typeof u === 'string' && u.isWellFormed(),
  { type: 'string_type', msg: 'Input should be a valid string' },
  { type: 'string' },
)

export const boolean = leaf<boolean>(
  'boolean',
  (u): u is boolean => typeof u === 'boolean',
  { type: 'bool_type', msg: 'Input should be a valid boolean' },
  { type: 'boolean' },
)

const TWO_TO_63 = 2 ** 63

/** A JSON number without a fraction, within 64 bits. */
export const int64 = leaf<number>(
  'int64',
  (u): u is number => typeof u === 'number' && Number.isInteger(u) && u >= -TWO_TO_63 && u < TWO_TO_63,
  { type: 'int_type', msg: 'Input should be a valid integer of 64 bits' },
  { type: 'integer', format: 'int64' },
)

export const number = leaf<number>(
  'number',
  (u): u is number => typeof u === 'number' && Number.isFinite(u),
  { type: 'float_type', msg: 'Input should be a valid number' },
  { type: 'number' },
)

export const jsonObject = leaf<JsonObject>(
  'object',
  isJsonObject,
  { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  { type: 'object', additionalProperties: true },
)

/** Any JSON value. */
export const json = leaf<Json>(
  'json',
  (u): u is Json => u !== undefined,
  { type: 'missing', msg: 'Field required' },
  {},
)

/** A whole number within inclusive bounds. */
export const integerBetween = (least: number, most: number): Codec<number, number> =>
  new Codec<number, number>(
    'integer',
    (u): u is number => int64.is(u) && u >= least && u <= most,
    (u, c) => {
      if (!int64.is(u)) return refuse(u, c, 'int_type', 'Input should be a valid integer')
      if (u < least)
        return refuse(u, c, 'greater_than_equal', `Input should be greater than or equal to ${least}`)
      if (u > most) return refuse(u, c, 'less_than_equal', `Input should be less than or equal to ${most}`)
      return t.success(u)
    },
    { type: 'integer', minimum: least, maximum: most },
  )

/** From 0 to 2^53 - 1, which a double holds exactly. */
export const wholeNumber = integerBetween(0, Number.MAX_SAFE_INTEGER)

export const oneOf = <const W extends readonly string[]>(...words: W): Codec<W[number], W[number]> =>
  leaf<W[number]>(
    words.join(' | '),
    (u): u is W[number] => typeof u === 'string' && words.includes(u),
    { type: 'literal_error', msg: `Input should be ${words.map((w) => `'${w}'`).join(' or ')}` },
    { type: 'string', enum: words },
  )
