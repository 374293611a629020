/** The time zone of all displayed times, filters and chart buckets: an IANA name. */
export type Zone = string

const THIN = '\u2009'

/** `12 625 000`, in groups of three with thin spaces. */
export const wholeNumber = (value: number): string => {
  const [sign, digits] = value < 0 ? ['−', String(-value)] : ['', String(value)]
  return sign + digits.replace(/\B(?=(\d{3})+(?!\d))/g, THIN)
}

/** `12.6 M`, for places without room. */
export const shortNumber = (value: number): string => {
  for (const [unit, size] of [
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    if (Math.abs(value) >= size) return `${trimmed(significant(value / size))}${THIN}${unit}`
  return String(value)
}

/** Three significant digits without an exponent. */
const significant = (value: number): string =>
  value.toFixed(Math.min(20, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))))

const trimmed = (digits: string): string => (digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits)

/** Whole numbers in groups, others with five significant digits. */
export const significantNumber = (value: number): string =>
  Number.isInteger(value) ? wholeNumber(value) : String(Number(value.toPrecision(5)))

/** `2.3 %`; a part is never shown as nothing. */
export const percent = (value: number): string =>
  value > 0 && value < 0.05
    ? `<${THIN}0.1${THIN}%`
    : `${value === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)}${THIN}%`

/** `412 ms`, `3.14 s`, `2 min 05 s`, `3 h 12 min`; shorter than a millisecond in µs. */
export const duration = (microseconds: number): string => {
  if (microseconds < 1000) return `${microseconds}${THIN}µs`
  const milliseconds = microseconds / 1000
  if (milliseconds < 999.5) return `${Math.round(milliseconds)}${THIN}ms`
  const seconds = milliseconds / 1000
  if (seconds < 59.995) return `${seconds.toFixed(2)}${THIN}s`
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  if (hours > 0) return `${wholeNumber(hours)}${THIN}h ${two(minutes)}${THIN}min`
  return `${minutes}${THIN}min ${two(whole % 60)}${THIN}s`
}

const two = (value: number): string => String(value).padStart(2, '0')

/** Three significant digits down to 10^-12; `—` is never 0. `isPartial` where models without a price are left out. */
export const cost = (dollars: number, isPartial = false): string => {
  if (dollars === 0) return isPartial ? 'no price' : '$0'
  const prefix = isPartial ? '≥\u2009' : ''
  return `${prefix}$${dollars >= 1000 ? wholeNumber(Math.round(dollars)) : significant(dollars)}`
}

/** All digits, for hovering and copying. */
export const exactCost = (dollars: number): string => {
  const text = String(dollars)
  return text.includes('e') ? trimmed(dollars.toFixed(12)) : text
}

/** The price of a unit as the API gives it, for a million units: `0.0000025` is `$2.50`. */
export const perMillion = (price: string): string => {
  const dollars = Number(price) * 1e6
  return dollars === 0 ? '—' : `$${dollars >= 0.01 ? dollars.toFixed(2) : significant(dollars)}`
}

const DAY_MS = 86_400_000

/** `Nov 25 23:04:11`, with the year where it is not the present one. */
export const clockTime = (milliseconds: number, zone: Zone, now = Date.now()): string => {
  const parts = partsIn(milliseconds, zone)
  const year = parts['year'] === partsIn(now, zone)['year'] ? '' : ` ${parts['year']}`
  return `${parts['month']} ${parts['day']}${year} ${parts['hour']}:${parts['minute']}:${parts['second']}`
}

const partsIn = (milliseconds: number, timeZone: Zone): Readonly<Record<string, string>> => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  return Object.fromEntries(format.formatToParts(milliseconds).map(({ type, value }) => [type, value]))
}

/** The wall-clock time of a zone, as `<input type="datetime-local">` has it: `2026-11-25T23:04:11`. */
export const wallTime = (milliseconds: number, timeZone: Zone): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
    .format(milliseconds)
    .replace(' ', 'T')

/** The instant of a wall-clock time in a zone. A time that a change of clocks skips is moved by that change. */
export const instantAt = (wall: string, zone: Zone): number => {
  const asUtc = Date.parse(`${wall}Z`)
  const offsetAt = (instant: number) => Date.parse(`${wallTime(instant, zone)}Z`) - instant
  return asUtc - offsetAt(asUtc - offsetAt(asUtc))
}

/** `12 s ago` within a day, else the clock time. */
export const shownTime = (milliseconds: number, zone: Zone, now = Date.now()): string => {
  const age = now - milliseconds
  if (age < -5000 || age >= DAY_MS) return clockTime(milliseconds, zone, now)
  const seconds = Math.max(0, Math.round(age / 1000))
  if (seconds < 60) return `${seconds}${THIN}s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${THIN}min ago`
  return `${Math.floor(seconds / 3600)}${THIN}h ago`
}

/** `weave:///team/project/op/name:digest` and plain names alike. */
export const opName = (op: string): string => /\/op\/([^/:]+)(:[^/]*)?$/.exec(op)?.[1] ?? op

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${wholeNumber(count)} ${count === 1 ? one : many}`

export const isPast = (at: string | null): boolean => at !== null && Date.parse(at) <= Date.now()
