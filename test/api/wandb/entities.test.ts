import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { ask, dataOf, memberOf } from '../graphql/given.js'
import { whenReadable } from '../../support/asking-again.js'

const UPSERT_MODEL =
  'mutation ($input: UpsertModelInput!) { upsertModel(input: $input) { inserted model { id name } } }'

describe('an entity that the package wandb names', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const teams = async () => JSON.stringify(accepted(await service.send('GET', '/api/teams')))

  it('is refused if it is no team, and no team is made', async () => {
    const name = `no-such-team-${randomUUID().slice(0, 8)}`
    const member = await memberOf(service, 'some')
    const places = { entityName: name, projectName: 'p', runName: 'r' }
    const requests = [
      ['upsertBucket', 'UpsertBucketInput', 'inserted', { entityName: name, modelName: 'p', name: 'r' }],
      ['createRunFiles', 'CreateRunFilesInput', 'runID', { ...places, files: ['f'] }],
      [
        'createArtifact',
        'CreateArtifactInput',
        'artifact { id }',
        {
          ...places,
          artifactTypeName: 't',
          artifactCollectionName: 'c',
          digest: 'd'.repeat(32),
          digestAlgorithm: 'MANIFEST_MD5',
        },
      ],
      ['upsertModel', 'UpsertModelInput', 'inserted', { entityName: name, name: 'wandb-registry-models' }],
    ] as const
    for (const [mutation, type, fields, input] of requests) {
      const query = `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${fields} } }`
      const [told] = (await ask(service, query, { input })).errors ?? []
      if (mutation !== 'createArtifact')
        assert.match(
          told?.message ?? '',
          new RegExp(`Entity ${name} not found. Check its name, or make the team`),
          mutation,
        )
      assert.notEqual(told, undefined, mutation)
      const [stranger] = (await ask(service, query, { input }, member.options)).errors ?? []
      assert.match(stranger?.message ?? '', /not found|no access/i, mutation)
    }
    assert.ok(!(await teams()).includes(name))
  })

  it('lists a project that was made and has no runs', async () => {
    const { options, teams: mine } = await memberOf(service, 'mine')
    const [entityName] = mine as [string]
    dataOf(await ask(service, UPSERT_MODEL, { input: { entityName, name: 'cp-x' } }, options))
    const MODELS = 'query ($e: String) { models(entityName: $e) { edges { node { name createdAt } } } }'
    const { edges } = dataOf(await ask(service, MODELS, { e: entityName }, options)).models
    assert.deepEqual(
      edges.map(({ node }: { node: { name: string } }) => node.name),
      ['cp-x'],
    )
    assert.notEqual(edges[0].node.createdAt, null)
    const listed = await whenReadable(
      () => service.send('GET', `/api/teams/${entityName}/projects`, undefined, options),
      ({ text }) => text,
    )
    assert.match(listed.text, /"cp-x"/)
  })

  it('is told what is not supported, and no name that is only alike', async () => {
    for (const query of [
      'mutation { upsertSweep(input: {}) { sweep { name } } }',
      'mutation ($input: UpsertViewInput!) { upsertView(input: $input) { view { id } } }',
    ]) {
      const messages = (await ask(service, query)).errors?.map(({ message }) => message) ?? []
      assert.match(
        messages[0] ?? '',
        /Sweeps, launch queues, reports and rewinding runs are not supported\.$/,
      )
      for (const message of messages) assert.doesNotMatch(message, /Did you mean/)
    }
  })
})
