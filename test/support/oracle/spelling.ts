const BASE = Date.UTC(2025, 0, 1)

const OFFSETS = [
  ['Z', 0],
  ['+00:00', 0],
  ['+02:00', 120],
  ['-05:30', -330],
  ['', 0],
] as const

const digits = (microseconds: number, form: number): string => {
  const six = String(microseconds).padStart(6, '0')
  const needed = six.replace(/0+$/u, '')
  const places = [0, 3, 6].find((count) => count >= needed.length) ?? 6
  const shown = [six.slice(0, places), six, needed][form % 3]!
  return shown === '' ? '' : `.${shown}`
}

/** One of many ways to write the instant that lies so many microseconds after 2025 began in UTC. */
export const instantText = (microseconds: number, form: number): string => {
  const seconds = Math.floor(microseconds / 1_000_000)
  const [suffix, minutes] = OFFSETS[Math.floor(form / 3) % OFFSETS.length]!
  const local = new Date(BASE + seconds * 1000 + minutes * 60_000).toISOString().slice(0, 19)
  return `${local}${digits(microseconds - seconds * 1_000_000, form)}${suffix}`
}

/** An optional string; one without value is left out, null or ''. */
export const optional = <K extends string>(
  key: K,
  value: string | null,
  form: number,
): Partial<Record<K, string | null>> => {
  const blank = [undefined, null, ''][form % 3]
  const written = value ?? blank
  return written === undefined ? {} : ({ [key]: written } as Partial<Record<K, string | null>>)
}
