import assert from 'node:assert/strict'
import { Script } from 'node:vm'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { finishedStatus, logRun, rescore, scorerObject } from './logged-run.js'

describe('rescoring with built-in scorers', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('computes no score in the thread of the event loop', async () => {
    const project = someProject()
    const rows = Array.from({ length: 30 }, (_, at) => ({
      example: { expected: `${at % 3}` },
      output: `${at % 2}`,
    }))
    const source = await logRun(service, project, rows)
    const scorers: string[] = []
    for (const [name, className, settings] of [
      ['rouge', 'RougeScorer', {}],
      ['regex', 'RegexScorer', { pattern: '1' }],
    ] as const)
      scorers.push(await service.in(project).objects.publish(name, scorerObject(className, settings)))
    // Limits of time run their work in a context of node:vm.
    const limited: unknown[] = []
    const own = Object.getOwnPropertyDescriptor(Script.prototype, 'runInContext')!
    const runInContext = own.value as (...asked: unknown[]) => unknown
    const counted = function (this: Script, ...asked: unknown[]) {
      limited.push(asked)
      return runInContext.apply(this, asked)
    }
    Object.defineProperty(Script.prototype, 'runInContext', { ...own, value: counted })
    try {
      const { call_id } = (await rescore(service, project, source.id, scorers)).json<{ call_id: string }>()
      const status = await finishedStatus(service, project, call_id)
      assert.equal(status.code, 'complete', JSON.stringify(status))
    } finally {
      Object.defineProperty(Script.prototype, 'runInContext', own)
    }
    assert.ok(limited.length < rows.length, `${limited.length} of this thread`)
  })
})
