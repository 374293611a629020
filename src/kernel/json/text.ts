import { digitsIn, holdsDigits } from './digits.js'
import type { Json } from './json.js'

/** As `JSON.stringify`, but writes remembered digits. */
export const jsonText = (value: Json): string =>
  holdsDigits(value) ? textWithDigits(value) : JSON.stringify(value)

/** The text of one member, which may have digits itself. */
export const memberText = <H extends object>(holder: H, key: string & keyof H): string =>
  digitsIn(holder, key) ?? jsonText(holder[key] as Json)

/** Writes member by member; values without digits at once. */
const textWithDigits = (value: Json): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value))
    return `[${value.map((item, at) => digitsIn(value, at) ?? textWithDigits(item as Json)).join(',')}]`
  const members: string[] = []
  for (const key of Object.keys(value)) {
    const member = (value as Readonly<Record<string, Json | undefined>>)[key]
    if (member !== undefined)
      members.push(`${JSON.stringify(key)}:${digitsIn(value, key) ?? textWithDigits(member)}`)
  }
  return `{${members.join(',')}}`
}
