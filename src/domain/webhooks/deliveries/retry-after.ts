export const MAX_RETRY_AFTER_MS = 86_400_000

/** The delay in a Retry-After header from `now`, at most a day; null if it is absent or invalid. */
export const retryAfterMs = (header: string | undefined, now: Date): number | null => {
  const text = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS)
  const date = httpDate(text, now)
  return date === undefined ? null : Math.min(Math.max(date - now.getTime(), 0), MAX_RETRY_AFTER_MS)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const MONTH = `(?<month>${MONTHS.join('|')})`
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)'

/** The three date formats of RFC 9110, section 5.6.7. */
const FORMS = [
  `^${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`,
  `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`,
  `^${DAY} ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`,
].map((form) => new RegExp(form))

const httpDate = (text: string, now: Date): number | undefined => {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((found) => found !== undefined)
  if (parts === undefined) return undefined
  const { year, month, day, hour, minute, second } = parts
  const full = year!.length === 2 ? nearestYear(Number(year), now.getUTCFullYear()) : Number(year)
  return Date.UTC(full, MONTHS.indexOf(month!), Number(day), Number(hour), Number(minute), Number(second))
}

/** A two-digit year is at most fifty years in the future (RFC 9110). */
const nearestYear = (digits: number, thisYear: number): number => {
  const year = thisYear - (thisYear % 100) + digits
  return year > thisYear + 50 ? year - 100 : year
}
