import * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { number } from '../../kernel/codec/leaves.js'
import { textLike } from '../../kernel/codec/text.js'
import type { Exact } from './exact.js'

/** An exact amount in units of 10^-12. Sums do not depend on the order and are never rounded. */
export type Amount = bigint

const PLACES = 12
const ONE = 10n ** BigInt(PLACES)

/** Upper bound for the price of a token. */
const LARGEST_PRICE = 10 ** 12

const WRITTEN = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** The shortest decimal form of a finite number: `digits` times 10 to the `shift`, in the unit of an amount. */
const written = (value: number) => {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = WRITTEN.exec(String(value)) ?? []
  return { sign, digits: BigInt(whole + fraction), shift: Number(exponent) - fraction.length + PLACES }
}

/** The shortest decimal form of a number, rounded half-even to 12 places. */
export const amountOf = (value: number): Amount => {
  const { sign, digits, shift } = written(value)
  const size = shift >= 0 ? digits * 10n ** BigInt(shift) : halfEven(digits, 10n ** BigInt(-shift))
  return sign === '-' ? -size : size
}

/** Compares an amount with the shortest decimal form of a number: -1 if it is below, 0 if equal. */
export const compareAmount = (amount: Amount, value: number): -1 | 0 | 1 => {
  const { sign, digits, shift } = written(value)
  const size = shift >= 0 ? digits * 10n ** BigInt(shift) : digits
  const scaled = shift >= 0 ? amount : amount * 10n ** BigInt(-shift)
  const line = sign === '-' ? -size : size
  return scaled === line ? 0 : scaled < line ? -1 : 1
}

const halfEven = (dividend: bigint, divisor: bigint): bigint => {
  const quotient = dividend / divisor
  const twice = 2n * (dividend % divisor)
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n)
  return isUp ? quotient + 1n : quotient
}

/** An amount times a factor, rounded half-even. */
export const times = (amount: Amount, factor: number): Amount => halfEven(amount * amountOf(factor), ONE)

/** Decimal digits without an exponent or trailing zeros. */
export const decimalText = (amount: Amount): string => {
  const size = amount < 0n ? -amount : amount
  const fraction = String(size % ONE)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return `${amount < 0n ? '-' : ''}${size / ONE}${fraction === '' ? '' : '.'}${fraction}`
}

/** Parses a decimal of at most 12 places. */
export const amountFrom = (text: string): Amount => {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const size = BigInt(whole + fraction.padEnd(PLACES, '0'))
  return text.startsWith('-') ? -size : size
}

/** The nearest double. */
export const numberFrom = (amount: Exact): number =>
  typeof amount === 'number' ? amount / 10 ** PLACES : Number(decimalText(amount))

const AS_PRICE = "String should be a decimal with at most 12 decimal places, such as '0.0000025'"
const PRICE = /^(0|[1-9]\d{0,12})(\.\d{1,12})?$/
const KEPT_PRICE = /^(0|[1-9]\d{0,12})(\.\d{0,11}[1-9])?$/
const isKeptPrice = (u: unknown): u is string => typeof u === 'string' && KEPT_PRICE.test(u)

/**
 * The price of a token: decimal digits, at most 12 places. Events store it without trailing zeros; clients may send
 * them.
 */
export const tokenPrice: Codec<string> = new Codec(
  'decimal',
  isKeptPrice,
  (u, c) => {
    if (typeof u !== 'string')
      return refuse(
        u,
        c,
        'string_type',
        "Input should be a string with a decimal number, such as '0.0000025'",
      )
    return PRICE.test(u)
      ? t.success(decimalText(amountFrom(u)))
      : refuse(u, c, 'string_pattern_mismatch', AS_PRICE)
  },
  { type: 'string', pattern: PRICE.source, description: AS_PRICE },
  (u) => (isKeptPrice(u) ? u : undefined),
)

/** A sum of money as stored in events: like a price, but without its upper bound. */
export const moneyText = textLike(
  'money',
  /^(0|[1-9]\d{0,99})(\.\d{0,11}[1-9])?$/,
  'String should be a decimal with at most 12 decimal places',
)

/** The price of a token as a JSON number. */
export const tokenCost: Codec<number> = new Codec<number>(
  'cost',
  (u): u is number => number.is(u) && u >= 0 && u <= LARGEST_PRICE,
  (u, c) => {
    if (!number.is(u)) return number.validate(u, c)
    if (u < 0) return refuse(u, c, 'greater_than_equal', 'Input should be greater than or equal to 0')
    if (u > LARGEST_PRICE)
      return refuse(u, c, 'less_than_equal', `Input should be less than or equal to ${LARGEST_PRICE}`)
    return t.success(u)
  },
  { type: 'number', minimum: 0, maximum: LARGEST_PRICE },
)
