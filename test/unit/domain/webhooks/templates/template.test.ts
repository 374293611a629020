import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import type { Json } from '../../../../../src/kernel/json/json.js'
import {
  parseTemplate,
  storedTemplate,
  type KnownSecrets,
} from '../../../../../src/domain/webhooks/templates/parse.js'
import { redacted, render, type SecretValues } from '../../../../../src/domain/webhooks/templates/render.js'
import {
  MAX_BODY_BYTES,
  secretsIn,
  variablesIn,
} from '../../../../../src/domain/webhooks/templates/template.js'

const BOTH: KnownSecrets = { accessToken: 'HOOK_TOKEN', secret: 'HOOK_KEY' }
const secrets: SecretValues = (secret) =>
  secret.kind === 'access_token' ? 'the-token' : `the-${secret.name}`

const parsed = (source: string, known: KnownSecrets = BOTH) => {
  const template = parseTemplate(source, known)
  return E.isRight(template) ? template.right : assert.fail(template.left.msg)
}
const refusalOf = (source: string, known: KnownSecrets = BOTH): string => {
  const template = parseTemplate(source, known)
  return E.isLeft(template) ? template.left.msg : assert.fail(`${source} is a template`)
}
const rendered = (source: string, variables: Record<string, Json> = {}, values: SecretValues = secrets) => {
  const result = render(parsed(source), variables, values)
  return E.isRight(result) ? result.right : assert.fail(result.left)
}
const bodyOf = (...asked: Parameters<typeof rendered>): string => rendered(...asked).body

describe('a template', () => {
  it('has values put into its strings, as text', () => {
    assert.equal(bodyOf('{"text":"new ${alias}!"}', { alias: 'prod' }), '{"text":"new prod!"}')
    assert.equal(
      bodyOf('["${alias}"]', { alias: 'a "quoted"\n\\ text\u2028' }),
      '["a \\"quoted\\"\\n\\\\ text\u2028"]',
    )
    for (const [value, text] of [
      [1.5, '1.5'],
      [true, 'true'],
      [null, 'null'],
      [[1, { a: 'b' }], '[1,{\\"a\\":\\"b\\"}]'],
    ] as const)
      assert.equal(bodyOf('["-${artifact_metadata.k}-"]', { 'artifact_metadata.k': value }), `["-${text}-"]`)
  })

  it('has values put outside its strings, as JSON', () => {
    for (const value of ['a"b', 1.5, true, null, [1, { a: 'b' }], { a: {} }])
      assert.deepEqual(
        JSON.parse(bodyOf('{"v": ${artifact_metadata.k}}', { 'artifact_metadata.k': value })),
        { v: value },
      )
  })

  it('escapes a value once more for each JSON text within its string', () => {
    const alias = 'a"b\\c\n'
    const once = JSON.parse(bodyOf('{"Message":"{\\"v\\":\\"${alias|json}\\"}"}', { alias })) as {
      Message: string
    }
    assert.deepEqual(JSON.parse(once.Message), { v: alias })
    const inner = JSON.stringify({ v: '${alias|json|json}' })
    const twice = JSON.parse(bodyOf(JSON.stringify([JSON.stringify([inner])]), { alias })) as [string]
    assert.deepEqual(JSON.parse((JSON.parse(twice[0]) as [string])[0]), { v: alias })
    const key = JSON.parse(bodyOf('["[\\"${HOOK_KEY|json}\\"]"]', {}, () => 'k"')) as [string]
    assert.deepEqual(JSON.parse(key[0]), ['k"'])
    assert.match(
      refusalOf('{"v":${alias|json}}'),
      /^`\|json` at character 6 is only for variables inside a JSON string/,
    )
    assert.match(refusalOf('["${alias|xml}"]'), /^Unknown variable/)
  })

  it('says what it had no value for: nothing in a string, null outside', () =>
    assert.deepEqual(rendered('{"a":"-${run_id}-","b":${artifact_metadata.x},"c":"${run_id}"}'), {
      body: '{"a":"--","b":null,"c":""}',
      unresolved: ['run_id', 'artifact_metadata.x'],
    }))

  it('names the secrets of its webhook, with and without braces', () => {
    const all = '{"t":"${ACCESS_TOKEN}","s":"${HOOK_KEY}","bare":"$HOOK_KEY.","out":$HOOK_KEY}'
    assert.deepEqual(JSON.parse(bodyOf(all)), {
      t: 'the-token',
      s: 'the-HOOK_KEY',
      bare: 'the-HOOK_KEY.',
      out: 'the-HOOK_KEY',
    })
    assert.deepEqual(JSON.parse(bodyOf(all, {}, redacted)), {
      t: '[secret:ACCESS_TOKEN]',
      s: '[secret:HOOK_KEY]',
      bare: '[secret:HOOK_KEY].',
      out: '[secret:HOOK_KEY]',
    })
    assert.deepEqual(secretsIn(parsed('["$HOOK_KEY","${ACCESS_TOKEN}","${alias}"]')), [
      { kind: 'secret', name: 'HOOK_KEY' },
      { kind: 'access_token' },
    ])
  })

  it('takes a bare name for a secret only where it is exactly that, and refuses other names', () => {
    for (const text of ['["$5"]', '["a$"]', '["$-x"]', '["$ HOOK_KEY"]']) assert.equal(bodyOf(text), text)
    assert.equal(bodyOf('["$HOOK_KEY-x"]'), '["the-HOOK_KEY-x"]')
    assert.equal(bodyOf('["$HOOK_KEY$HOOK_KEY"]'), '["the-HOOK_KEYthe-HOOK_KEY"]')
    for (const name of ['HOOK_KEY2', 'HOOK', 'alias', 'ACCESS_TOKEN', 'ref'])
      assert.match(refusalOf(`["$${name}"]`), /^Unknown variable at character 3/)
  })

  it('names the access token by the name of its secret', () => {
    const text = '["$HOOK_TOKEN", "${HOOK_TOKEN}", $HOOK_TOKEN]'
    assert.deepEqual(JSON.parse(bodyOf(text)), ['the-token', 'the-token', 'the-token'])
    assert.deepEqual(secretsIn(parsed('["$HOOK_TOKEN"]')), [{ kind: 'access_token' }])
    assert.match(refusalOf('["$HOOK_TOKEN"]', { accessToken: null, secret: 'HOOK_KEY' }), /^Unknown variable/)
  })

  it('is refused for an unknown name with its place, the nearest name and all names', () => {
    for (const [source, start, end, suggestion] of [
      ['{"a": "${artifact_versoin}"}', 7, 26, '${artifact_version}'],
      ['["$HOOK_KEZ"]', 2, 11, '${HOOK_KEY}'],
      ['["$alias"]', 2, 8, '${alias}'],
      ['["${HOOK_TOKEM}"]', 2, 15, '${HOOK_TOKEN}'],
      ['["${xyz}"]', 2, 8, null],
    ] as const) {
      const template = parseTemplate(source, BOTH)
      assert.ok(E.isLeft(template), source)
      const { msg, ctx } = template.left
      assert.deepEqual(ctx, { start, end, suggestion })
      assert.equal(msg.includes('Did you mean'), suggestion !== null)
      for (const known of ['${alias}', '${artifact_metadata.KEY}', '${HOOK_KEY}', '${HOOK_TOKEN}'])
        assert.ok(msg.includes(known))
      assert.ok(!msg.includes('xyz') && !msg.includes('versoin'))
    }
  })

  it('that was stored by an earlier release keeps other text after a `$`', () => {
    const payload = '["$ref", "$HOOK_KEY", "${ACCESS_TOKEN}"]'
    const template = storedTemplate({ payload, secret: 'HOOK_KEY', access_token: null })!
    const result = render(template, {}, secrets)
    assert.ok(E.isRight(result))
    assert.deepEqual(JSON.parse(result.right.body), ['$ref', 'the-HOOK_KEY', 'the-token'])
  })

  it('writes a `$` of its own before a name or a brace as `$$`', () => {
    assert.equal(bodyOf('["$$USD","a$$b$$"]'), '["$USD","a$b$$"]')
    assert.equal(bodyOf('["$${alias}","$$${alias}"]', { alias: 'x' }), '["${alias}","$${alias}"]')
    assert.deepEqual(variablesIn(parsed('["$${alias}"]')), [])
  })

  it('never reads again what was put into it', () => {
    for (const value of ['${ACCESS_TOKEN}', '$HOOK_KEY', '$${ACCESS_TOKEN}', '","x":"${HOOK_KEY}', '${'])
      assert.deepEqual(JSON.parse(bodyOf('["${alias}",${tag}]', { alias: value, tag: value })), [
        value,
        value,
      ])
  })

  it('is refused with a reason and a place, and without being quoted', () => {
    assert.match(refusalOf('["${nothing_such}"]'), /^Unknown variable at character 3/)
    assert.match(refusalOf('["${HOOK_KEY}"]', { accessToken: 'HOOK_TOKEN', secret: null }), /at character 3/)
    assert.match(
      refusalOf('["ab${ACCESS_TOKEN}"]', { accessToken: null, secret: null }),
      /at character 5 requires a webhook with an access token/,
    )
    assert.match(refusalOf('["${alias"]'), /at character 3 has no closing brace/)
    for (const name of [
      '',
      ' alias',
      'artifact_metadata.',
      'artifact_metadata',
      '__proto__',
      'artifact_metadata.a\\n',
    ])
      refusalOf(`["\${${name}}"]`)
  })

  it('is refused where it could not become JSON, or only with some values', () => {
    for (const source of [
      '',
      'text',
      '{"a":}',
      '{"a":"${alias}}',
      '[1${alias}]',
      '[${alias}1]',
      '[${alias}${tag}]',
      '{${alias}:1}',
      '["\\${alias}"]',
      '["\\u00${alias}"]',
      '["\\u00${alias}41"]',
      '[t${alias}]',
      '["a"${alias}]',
    ])
      assert.match(refusalOf(source), /should be valid JSON/, source)
  })

  it('takes an escaped quote or backslash for what it is', () => {
    assert.deepEqual(JSON.parse(bodyOf('["\\"${alias}\\\\",${alias}]', { alias: 'x' })), ['"x\\', 'x'])
    assert.deepEqual(JSON.parse(bodyOf('["\\\\${alias}"]', { alias: '"' })), ['\\"'])
  })

  it('needs the secrets that it names', () => {
    const none = render(parsed('["${ACCESS_TOKEN}"]'), {}, () => undefined)
    assert.deepEqual(none, E.left('missing_secret'))
    assert.ok(E.isRight(render(parsed('["${alias}"]'), {}, () => undefined)))
  })

  it('renders to at most 256 KiB of UTF-8', () => {
    const template = parsed('["${alias}"]')
    const most = MAX_BODY_BYTES - 4
    assert.ok(E.isRight(render(template, { alias: 'x'.repeat(most) }, secrets)))
    assert.deepEqual(render(template, { alias: 'x'.repeat(most + 1) }, secrets), E.left('too_large'))
    assert.deepEqual(render(template, { alias: 'é'.repeat(most / 2 + 1) }, secrets), E.left('too_large'))
    const many = parsed(`[${Array.from({ length: 5000 }, () => '"${alias}"').join()}]`)
    assert.deepEqual(render(many, { alias: 'x'.repeat(16_384) }, secrets), E.left('too_large'))
  })

  it('takes a variable only from the variables themselves', () =>
    assert.deepEqual(rendered('["${artifact_metadata.__proto__}"]').unresolved, [
      'artifact_metadata.__proto__',
    ]))
})
