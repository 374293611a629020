/** Printable ASCII, no blanks at its ends: elsewhere receivers and proxies read different things. */
const BEARER = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** Whether a value can be sent in a header as a bearer. */
export const isBearer = (value: string): boolean => BEARER.test(value)

/** What one that cannot be sent should be; the value itself is never quoted. */
export const BEARER_EXPECTED = 'printable ASCII without leading or trailing whitespace'
