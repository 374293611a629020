/** Printable ASCII without whitespace at the ends: receivers and proxies disagree on anything else. */
const BEARER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Whether a value is valid in a bearer header. */
export const isBearer = (value: string): boolean => BEARER.test(value)

/** Error text for an invalid value, which is never quoted. */
export const BEARER_EXPECTED = 'printable ASCII without leading or trailing whitespace'
