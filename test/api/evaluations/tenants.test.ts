import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { logRun, scorerObject } from './logged-run.js'

describe('runs of evaluations of another team', () => {
  let service: TestService
  let project: string
  let key: string
  let requests: Readonly<Record<string, (project_id: string) => object>>

  before(async () => {
    service = await sharedService()
    project = someProject()
    const team = `team-${randomUUID().slice(0, 8)}`
    await service.teams.create(team)
    const member = { user: `user-of-${team}`, role: 'member' }
    const added = await service.post(`/api/teams/${team}/members`, member)
    key = added.json<{ api_key: string }>().api_key
    const source_evaluation_run_id = (await logRun(service, project, [])).id
    const exact = await service.in(project).objects.publish('exact', scorerObject('ExactMatchScorer'))
    requests = {
      rescore: (project_id) => ({ project_id, source_evaluation_run_id, scorer_refs: [exact] }),
      evaluate_model: (project_id) => ({ project_id, evaluation_ref: exact, model_ref: exact }),
      cancel: (project_id) => ({ project_id, call_id: source_evaluation_run_id }),
    }
    const own = `${team}/project`
    const ask = (scorer_refs: string[]) =>
      service.post('/evaluations/rescore', { ...requests['rescore']!(own), scorer_refs }, { key })
    assert.equal((await ask([exact])).status, 404, 'no run of another team')
    const { id } = await logRun(service, own, [], { key })
    const foreign = await service
      .in(own)
      .with({ key })
      .evaluations.rescore({ source_evaluation_run_id: id, scorer_refs: [exact] })
    assert.equal(foreign.status, 404, 'no scorer of another team')
  })

  for (const name of ['rescore', 'evaluate_model', 'cancel'])
    it(`are answered like those of a missing team by ${name}`, async () => {
      const ask = (project_id: string) =>
        service.post(`/evaluations/${name}`, requests[name]!(project_id), { key })
      const missing = `${randomUUID()}/project`
      const [foreign, unknown] = [await ask(project), await ask(missing)]
      assert.ok([403, 404].includes(foreign.status), foreign.text)
      assert.deepEqual(
        [foreign.status, foreign.text.replaceAll(project, '').replaceAll(project.split('/')[0]!, '')],
        [unknown.status, unknown.text.replaceAll(missing, '').replaceAll(missing.split('/')[0]!, '')],
      )
    })
})
