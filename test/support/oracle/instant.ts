const SHAPE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:[Zz]|([+-])(\d\d):?(\d\d))?$/u

/** Microseconds since 1970 of an ISO 8601 date and time; one without an offset is UTC. */
export const microseconds = (text: string): bigint => {
  const parts = SHAPE.exec(text)
  if (parts === null) throw new Error(`not an instant this oracle reads: ${text}`)
  const [, year, month, day, hour, minute, second, fraction, sign, offsetHours, offsetMinutes] = parts
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  )
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * (sign === '-' ? -1 : 1)
  return BigInt(local - offset * 60_000) * 1000n + BigInt((fraction ?? '').padEnd(6, '0'))
}
