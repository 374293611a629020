import assert from 'node:assert/strict'
import fc from 'fast-check'
import { withText } from '../../../../src/kernel/json/replace-member.js'
import { COUNTS } from '../../../counts.js'
import { troublesomeText } from '../../../support/arbitrary-json.js'

const NAMES = ['model', 'response', 'modem', '__proto__', '', 'a"\\', 'é😀']
const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/)

/** The text as a JSON string, with some characters escaped that need not be. */
const stringToken = (text: string, escaped: readonly boolean[]): string =>
  [
    ...JSON.stringify(text)
      .slice(1, -1)
      .matchAll(/\\u.{4}|\\.|[^\\]/gs),
  ]
    .map(([unit], at) =>
      escaped[at] === true && unit.length === 1
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
        : unit,
    )
    .join('')
    .replace(/^.*$/s, '"$&"')

const escapes = fc.array(fc.boolean(), { maxLength: 6 })
const string = fc.tuple(troublesomeText(), escapes).map(([text, escaped]) => stringToken(text, escaped))
const name = fc
  .tuple(fc.constantFrom(...NAMES), fc.oneof(fc.constant([]), escapes))
  .map(([text, escaped]) => stringToken(text, escaped))
const literal = fc.constantFrom('null', 'true', 'false', '0', '-1.5e+30', '123456789012345678901234567890')

const { object } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: string },
    { weight: 1, arbitrary: literal },
    { weight: 1, arbitrary: tie('list') },
    { weight: 3, arbitrary: tie('object') },
  ),
  list: fc
    .tuple(blank, fc.array(fc.tuple(blank, tie('value'), blank), { maxLength: 3 }))
    .map(
      ([empty, elements]) => `[${elements.length === 0 ? empty : elements.map((e) => e.join('')).join()}]`,
    ),
  object: fc
    .tuple(
      blank,
      fc.array(fc.tuple(blank, name, blank, fc.constant(':'), blank, tie('value'), blank), { maxLength: 5 }),
    )
    .map(([empty, members]) => `{${members.length === 0 ? empty : members.map((m) => m.join('')).join()}}`),
}))

/** The object that has the string at the path, with the name of its member. */
const holderOf = (value: unknown, [first, ...rest]: readonly string[]): object | undefined => {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first!)) return undefined
  if (Array.isArray(value)) return undefined
  const member: unknown = Object.getOwnPropertyDescriptor(value, first!)?.value
  if (rest.length > 0) return holderOf(member, rest)
  return typeof member === 'string' ? value : undefined
}

describe('replacing the string of a member in JSON', () => {
  it('changes what a parser reads there, and no other character', () => {
    let replaced = 0
    fc.assert(
      fc.property(
        fc.tuple(blank, object, blank).map((parts) => parts.join('')),
        fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }),
        troublesomeText().map((text) => `public-name ${text}`),
        (json, path, text) => {
          const after = withText(json, path, text)
          const expected: unknown = JSON.parse(json)
          const holder = holderOf(expected, path)
          if (holder === undefined) {
            assert.equal(after, json)
            return
          }
          replaced += 1
          Object.defineProperty(holder, path.at(-1)!, { value: text })
          assert.deepEqual(JSON.parse(after), expected)
          const token = JSON.stringify(text)
          const at = after.indexOf(token)
          const [before, behind] = [after.slice(0, at), after.slice(at + token.length)]
          assert.ok(json.startsWith(before) && json.endsWith(behind))
          const old: unknown = JSON.parse(json.slice(before.length, json.length - behind.length))
          assert.equal(typeof old, 'string')
        },
      ),
      { numRuns: COUNTS.steppedTexts * 10 },
    )
    assert.ok(replaced > COUNTS.steppedTexts / 2, `${replaced} replaced`)
  })
})
