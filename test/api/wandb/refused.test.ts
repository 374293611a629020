import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { clientOf } from './given.js'

describe('what is not supported of the package wandb', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const messageOf = async (query: string, variables = {}) => {
    const { errors } = await clientOf(service, someProject()).graphQl(query, variables)
    return errors?.[0]?.message ?? ''
  }

  const documents: Readonly<Record<string, string>> = {
    sweeps: 'mutation ($config: String) { upsertSweep(input: {config: $config}) { sweep { name } } }',
    'launch queues': 'mutation { createRunQueue(input: {queueName: "q"}) { queueID } }',
    'rewinding a run':
      'mutation { rewindRun(input: {runName: "r", metricName: "_step"}) { rewoundRun { id } } }',
    'reading sweeps': '{ project(name: "p") { sweep(sweepName: "s") { ...S } } } fragment S on Sweep { id }',
    reports: '{ project(name: "p") { allViews { edges { cursor } } } }',
  }
  for (const [what, query] of Object.entries(documents))
    it(`is refused with an error that says so: ${what}`, async () =>
      assert.match(
        await messageOf(query),
        /Sweeps, launch queues, reports and rewinding runs are not supported\.$/,
      ))

  it('is refused with an error that says so: a run of a sweep', async () => {
    const client = clientOf(service, someProject())
    await assert.rejects(client.init('one', { sweep: 'some' }), /Sweeps are not supported/)
    assert.equal(await client.run('one', 'id').catch(() => null), null)
  })

  it('is refused with an error that says so: distributed artifacts', async () => {
    const client = clientOf(service, someProject())
    const { id } = await client.draft('ds', { a: '1' })
    await assert.rejects(
      client.manifestLink(id, { a: '1' }, undefined, 'PATCH'),
      /Manifests of the type PATCH are not supported/,
    )
    await assert.rejects(
      client.draft('ds', { a: '2' }, { distributedID: 'd' }),
      /Distributed artifacts are not supported/,
    )
  })

  it('is refused with an error that says so: a link to a project', async () => {
    const project = someProject()
    const [entityName, projectName] = project.split('/') as [string, string]
    const client = clientOf(service, project)
    const input = {
      artifactID: await client.upload('ds', { a: '1' }),
      artifactPortfolioName: 'models',
      entityName,
      projectName,
    }
    const { errors } = await client.graphQl(
      'mutation ($input: LinkArtifactInput!) { linkArtifact(input: $input) { versionIndex } }',
      { input },
    )
    assert.match(errors?.[0]?.message ?? '', /use the path wandb-registry-<registry>\/<collection>/)
  })
})
