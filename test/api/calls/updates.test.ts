import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, reasonOf, told, writesNothing } from './given.js'

describe('an update', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const update = (body: object) => service.post('/call/update', body)
  const named = async (project_id: string, call_id: string, display_name: unknown) =>
    assert.deepEqual(accepted(await update({ project_id, call_id, display_name })), {})

  const started = async (more: object = {}): Promise<string> => {
    const project = someProject()
    await service
      .in(project)
      .calls.start({ id: 'c', ...more })
      .json()
    return project
  }

  it('sets the name, and an empty one sets it back to none', async () => {
    const project = await started({ display_name: 'first' })
    for (const [name, read] of [
      ['second', 'second'],
      ['', null],
      ["'; DROP TABLE calls; -- \u0000 \\ %", "'; DROP TABLE calls; -- \u0000 \\ %"],
      ['😀'.repeat(1024), '😀'.repeat(1024)],
      ['first', 'first'],
    ] as const) {
      await named(project, 'c', name)
      const call = await service.in(project).calls.read('c')
      assert.equal(call.display_name, read)
      assert.equal(call.summary.weave.display_name, read ?? undefined)
      assert.equal(call.summary.weave.trace_name, read === null ? 'answer' : undefined)
    }
  })

  it('to the name it has writes nothing', async () => {
    const project = await started({ display_name: 'first' })
    await writesNothing(service, () => named(project, 'c', 'first'))
    await named(project, 'c', 'second')
    await writesNothing(service, () => named(project, 'c', 'second'))
    await named(project, 'c', '')
    await writesNothing(service, () => named(project, 'c', ''))
  })

  it('before the start stands after it', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    await named(project, 'c', 'set')
    assert.equal(await calls.read('c'), null)
    await calls.start({ id: 'c', display_name: 'first' }).json()
    assert.equal((await calls.read('c')).display_name, 'set')
  })

  it('without a name is a 400, and writes nothing', async () => {
    const project = await started()
    await writesNothing(service, async () => {
      for (const body of [{}, { display_name: null }, { wb_user_id: 'mallory' }])
        assert.match(
          reasonOf(await update({ project_id: project, call_id: 'c', ...body }), 400),
          /display_name/,
        )
    })
  })

  it('is strict', async () => {
    const valid = { project_id: someProject(), call_id: 'c', display_name: 'n' }
    assert.deepEqual(told(await update({})), ['missing project_id', 'missing call_id'])
    for (const [field, value, type] of [
      ['project_id', 7, 'string_type'],
      ['project_id', 'nobody', 'string_pattern_mismatch'],
      ['call_id', null, 'string_type'],
      ['call_id', '', 'string_too_short'],
      ['call_id', 'a\u0000b', 'string_pattern_mismatch'],
      ['call_id', 'x'.repeat(257), 'string_too_long'],
      ['display_name', 7, 'string_type'],
      ['display_name', ['n'], 'string_type'],
      ['display_name', 'x'.repeat(1025), 'string_too_long'],
      ['display_name', '😀'.repeat(1025), 'string_too_long'],
      ['wb_user_id', 7, 'string_type'],
      ['op_name', 'x', 'extra_forbidden'],
    ] as const)
      assert.deepEqual(told(await update({ ...valid, [field]: value })), [`${type} ${field}`])
  })
})
