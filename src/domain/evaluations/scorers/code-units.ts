const ASTRAL = /[\ud800-\udbff][\udc00-\udfff]/

/**
 * Both texts with one UTF-16 unit for each character (code point), so that units can be compared in the place of
 * characters. They have to have fewer than 65,536 different characters together.
 */
export const inCodeUnits = (a: string, b: string): readonly [string, string] => {
  if (!ASTRAL.test(a) && !ASTRAL.test(b)) return [a, b]
  const units = new Map<string, string>()
  const written = (text: string): string => {
    let result = ''
    for (const character of text) {
      const unit = units.get(character) ?? String.fromCharCode(units.size)
      units.set(character, unit)
      result += unit
    }
    return result
  }
  return [written(a), written(b)]
}
