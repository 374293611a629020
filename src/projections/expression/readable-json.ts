/** May be true for digits in a string, but is never false for a wide integer. */
export const mayBeWide = (json: string): string => `match(${json}, '[0-9]{20}|-[0-9]{19}')`

/** A string, a number, or the characters between them. */
const TOKEN = `'"(?:[^"\\\\\\\\]|\\\\\\\\.)*"|[0-9.eE+-]+|[^"0-9-]+'`

const WHOLE = 'toInt256OrZero(t)'
const IS_WIDE = `(length(t) > 20 OR ${WHOLE} < toInt256('${-(2n ** 63n)}') OR ${WHOLE} >= toInt256('${2n ** 64n}'))`

/**
 * JSON that ClickHouse can parse. Of its two parsers, simdjson fails for a text with an integer of more than 64 bits, and
 * the other reads numbers inexactly, so that one in seven is not found by its own digits. With a fraction `.0` such
 * integers are read by simdjson. NULL stays NULL. Read it with {@link JSON_SETTINGS}.
 */
export const readableJson = (json: string, isWide = mayBeWide(json)): string =>
  `if(${isWide} AND ${json} IS NOT NULL, arrayStringConcat(arrayMap(
    t -> if(match(t, '^-?[0-9]{19,}$') AND ${IS_WIDE}, concat(t, '.0'), t),
    extractAll(assumeNotNull(${json}), ${TOKEN}))), ${json})`

export const JSON_SETTINGS = 'allow_simdjson = 1'
