import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import type { Json } from '../../../../../src/kernel/json/json.js'
import { parseTemplate } from '../../../../../src/domain/webhooks/templates/parse.js'
import { redacted, render } from '../../../../../src/domain/webhooks/templates/render.js'
import { secretsIn } from '../../../../../src/domain/webhooks/templates/template.js'
import { COUNTS } from '../../../../counts.js'
import { arbitraryJson, troublesomeText } from '../../../../support/arbitrary-json.js'

const TOKEN = 'canary-of-the-token-\n"'
const SECRET = 'canary-of-the-secret-\\'

const HOSTILE = [
  '${ACCESS_TOKEN}',
  '$HOOK_KEY',
  '${HOOK_KEY}',
  '$${ACCESS_TOKEN}',
  '","x":"',
  '"}],',
  '\\',
  '\\"',
  '\n\r\t\0',
  '\u2028\u2029',
  '\ud800',
  'a\udc00',
]

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.array(fc.constantFrom(...HOSTILE), { maxLength: 4 }).map((texts) => texts.join('')),
  troublesomeText(),
)
const value: fc.Arbitrary<Json> = fc.oneof(
  hostileText,
  arbitraryJson,
  hostileText.map((text) => ({ [text]: [text] })),
)

const NAMES = [
  'alias',
  'tag',
  'run_name',
  'artifact_metadata.a',
  'artifact_metadata.b c',
  'metric_value',
] as const
const variables = fc.dictionary(fc.constantFrom(...NAMES), value)

/** References that put no secret into what they are in, and those that do. */
const plain = fc.oneof(
  fc.constantFrom(...NAMES).map((name) => `\${${name}}`),
  fc.constant('$${ACCESS_TOKEN}'),
)
const secret = fc.constantFrom('${ACCESS_TOKEN}', '$HOOK_KEY', '${HOOK_KEY}')

/** Stands before references in what is expected, and in no text that is given. */
const MARK = '\u0001'

/** JSON with references in its strings, as its strings' neighbours, and in the places of values. */
const source = fc
  .array(
    fc.tuple(
      troublesomeText().map((text) =>
        JSON.stringify(text.toWellFormed().replaceAll('$', '').replaceAll(MARK, '')).slice(1, -1),
      ),
      fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: secret }),
      fc.boolean(),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map(
    (items) =>
      `[${items
        .map(([text, reference, inString]) =>
          inString || reference.startsWith('$$') ? `"${text}${reference} ${text}"` : reference,
        )
        .join()}]`,
  )

const ROUNDS = { numRuns: COUNTS.templates }

describe('whatever the values are, a template', () => {
  it('renders to JSON that says them and nothing else', () =>
    fc.assert(
      fc.property(source, variables, (source, variables) => {
        const template = parseTemplate(source, { accessToken: 'HOOK_TOKEN', secret: 'HOOK_KEY' })
        assert.ok(E.isRight(template), source)
        const secretOf = (one: { kind: string }) => (one.kind === 'secret' ? SECRET : TOKEN)
        const result = render(template.right, variables, secretOf)
        const hidden = render(template.right, variables, redacted)
        if (E.isLeft(result) || E.isLeft(hidden)) return
        const { body } = result.right
        assert.deepEqual(JSON.parse(body), expected(source, variables))
        assert.equal(Buffer.from(body).toString(), body)
        assert.equal(/canary/.test(body), secretsIn(template.right).length > 0)
        assert.ok(!/canary/.test(hidden.right.body))
        assert.ok(Array.isArray(JSON.parse(hidden.right.body)))
      }),
      ROUNDS,
    ))

  it('that is refused or not is so for all of them: no value breaks one that was taken', () =>
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...'[]{}",:\\u1a '.split(''), '${alias}', '"', '"${tag}"', 'null'), {
          maxLength: 9,
        }),
        variables,
        (pieces, variables) => {
          const template = parseTemplate(pieces.join(''), { accessToken: 'HOOK_TOKEN', secret: 'HOOK_KEY' })
          if (E.isLeft(template)) return
          const result = render(template.right, variables, redacted)
          assert.ok(E.isRight(result) || result.left === 'too_large')
        },
      ),
      ROUNDS,
    ))
})

/** The same, from the source as JSON with each reference outside strings made a marked string. */
const expected = (source: string, variables: Record<string, Json>): Json => {
  const marked = source.replaceAll(/(?<=[[,])\$(?:\{[^}]*\}|HOOK_KEY)(?=[\],])/g, (found) =>
    JSON.stringify(MARK + found),
  )
  return (JSON.parse(marked) as string[]).map((text): Json => {
    if (text.startsWith(`${MARK}$`)) return known(text.slice(1), variables) ?? null
    return text.replaceAll(/\$\$\{|\$\{[^}]*\}|\$HOOK_KEY/g, (found) => {
      if (found === '$${') return '${'
      const value = known(found, variables)
      return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
    })
  })
}

const known = (reference: string, variables: Record<string, Json>): Json | undefined => {
  const name = reference.replaceAll(/[${}]/g, '')
  if (name === 'ACCESS_TOKEN') return TOKEN
  if (name === 'HOOK_KEY') return SECRET
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as Json)
}
