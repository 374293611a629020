/** A double as Python writes it: `1.0`, `1e-05`, `1e+16`. */
export const pythonFloat = (value: number): string => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value < 0 ? '-Infinity' : 'Infinity'
  if (Object.is(value, -0)) return '-0.0'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e16)) {
    const text = String(value)
    if (!text.includes('e')) return text.includes('.') ? text : `${text}.0`
  }
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const digits = exponent.slice(1)
  return `${mantissa}e${exponent[0]!}${digits.length < 2 ? `0${digits}` : digits}`
}
