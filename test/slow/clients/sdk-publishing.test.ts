import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import { assertNoneRefused, startSdkService, type SdkService } from '../../e2e/sdk-service.js'

const PROJECT = 'team/publishing'

interface Published extends JsonObject {
  readonly published: Readonly<Record<string, string>>
  readonly op: JsonObject
  readonly latest: JsonObject
  readonly code: string
  readonly output: JsonObject
  readonly rowRefs: readonly string[]
  readonly read: readonly Json[]
}

const SETTINGS = {
  _type: 'Settings',
  _class_name: 'Settings',
  _bases: ['Object', 'BaseModel'],
  name: 'my settings',
  description: 'how',
  temperature: 0.5,
  tags: ['ü', '\u0000', '\ud83e\udd84'],
}
const IMAGE = '89504e470d0a1a0a00ff'
const AUDIO = Buffer.from('RIFF\u0000\u0001 not quite a wave').toString('hex')

/** The digest of a file, as clients work it out themselves. */
const digestOf = (hex: string): string =>
  createHash('sha256')
    .update(Buffer.from(hex, 'hex'))
    .digest('base64url')
    .replaceAll('-', 'X')
    .replaceAll('_', 'Y')

const file = (type: string, name: string, hex: string) => ({
  _type: 'CustomWeaveType',
  weave_type: { type },
  files: { [name]: digestOf(hex) },
  load_op: 'NO_LOAD_OP',
})

describe('things published with the SDK of npm', () => {
  let sdk: SdkService
  let told: Published
  before(async () => {
    sdk = await startSdkService()
    told = await sdk.told('publishing', PROJECT)
  })
  after(() => sdk.stop())

  it('are named by references', () => {
    const kinds = Object.entries(told.published).map(([name, ref]) => {
      const [, kind, id] =
        /^weave:\/\/\/team\/publishing\/(op|object)\/([^/:]+):[A-Za-z0-9]{43}$/.exec(ref) ?? []
      return [name, `${kind} ${id}`]
    })
    assert.deepEqual(Object.fromEntries(kinds), {
      first: 'object my-settings',
      again: 'object my-settings',
      other: 'object my-settings',
      plain: 'object plain',
      list: 'object list',
      prompt: 'object greeting',
      messages: 'object chat',
      dataset: 'object rows',
      op: 'op double',
      holder: 'object holder',
    })
  })

  it('are the same version when they are the same', () => {
    assert.equal(told.published['again'], told.published['first'])
    assert.notEqual(told.published['other'], told.published['first'])
    const { version_index, is_latest, val, ...latest } = told.latest
    assert.deepEqual([version_index, is_latest], [1, 1])
    assert.deepEqual(val, { ...SETTINGS, temperature: 1 })
    assert.deepEqual(
      [latest['object_id'], latest['kind'], latest['base_object_class']],
      ['my-settings', 'object', 'Settings'],
    )
  })

  it('are read back', () => {
    const { plain, list, settings, prompt, messages, rows } = told
    assert.deepEqual(
      { plain, list, settings, prompt, messages, rows },
      {
        plain: { n: 1, list: [null, 1e21, -0.5], nested: { a: 'b' } },
        list: [1, 'two', null],
        settings: SETTINGS,
        prompt: 'Hello you',
        messages: [{ role: 'user', content: 'Say this' }],
        rows: [3, 1, 3],
      },
    )
  })

  it('have ops whose code is read by the digest that they name', () => {
    const { kind, val, version_index } = told.op
    assert.deepEqual([kind, version_index, told.code], ['op', 0, '(n) => n * 2'])
    assert.deepEqual(val, file('Op', 'obj.py', Buffer.from(told.code).toString('hex')))
  })

  it('have images and sounds whose bytes are read by the digests that they name', () => {
    assert.deepEqual(told.output, {
      picture: file('PIL.Image.Image', 'image.png', IMAGE),
      sound: file('wave.Wave_read', 'audio.wav', AUDIO),
    })
    assert.deepEqual(told['media'], [IMAGE, AUDIO])
  })

  it('have tables whose rows are changed one by one into new tables', () => {
    const { updated, base, count, updatedRows } = told
    assert.deepEqual(
      { updated, base, count, updatedRows },
      { updated: [1, 2, 3, 9], base: [3, 1, 3], count: 4, updatedRows: 3 },
    )
    for (const ref of told.rowRefs)
      assert.match(ref, /^weave:\/\/\/team\/publishing\/table\/[0-9a-f]{64}\/id\/\w{43}$/)
  })

  it('are found by what they are', () => {
    assert.deepEqual(told['objects'], [
      'chat v0 1',
      'greeting v0 1',
      'holder v0 1',
      'list v0 1',
      'my-settings v0 0',
      'my-settings v1 1',
      'plain v0 1',
      'rows v0 1',
    ])
    assert.deepEqual(told['latestSettings'], ['my-settings v1 1'])
    assert.deepEqual(told['datasets'], ['rows v0 1'])
    assert.deepEqual([...(told['ops'] as string[])].sort(), ['double v0 1', 'shown v0 1'])
  })

  it('are read by references that lead into them and on', () => {
    assert.deepEqual(told.read.slice(0, 5), [0.5, { n: 1 }, 'ü', null, [1, 'two', null]])
    assert.match(told.read[5] as string, /^[0-9a-f-]{36}$/)
  })

  it('stay as they are when the program is run again', async () => {
    const counted = async () => {
      const { objs } = await sdk.answered<{ objs: readonly Json[] }>('/objs/query', { project_id: PROJECT })
      return objs
    }
    const before = await counted()
    const again = await sdk.told<Published>('publishing', PROJECT)
    assert.deepEqual(again.published, told.published)
    assert.deepEqual(await counted(), before)
  })

  it('had no request refused for good', () => assertNoneRefused(sdk.proxy))
})
