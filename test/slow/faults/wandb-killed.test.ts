import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const ROUNDS = 20
const ROWS_OF_REQUEST = 200
const RETRY_MS = 50

interface Told {
  readonly data?: Readonly<Record<string, any>> | null // eslint-disable-line @typescript-eslint/no-explicit-any -- GraphQL data has the shape of the query
  readonly errors?: readonly { readonly message: string }[]
}

const md5 = (content: string) => createHash('md5').update(content)
const manifestOf = (name: string, content: string) =>
  JSON.stringify({ contents: { [name]: { digest: md5(content).digest('base64'), size: content.length } } })
const digestOf = (name: string, content: string) =>
  md5(`wandb-artifact-manifest-v1\n${name}:${md5(content).digest('base64')}\n`).digest('hex')

/** Sends each request until it is answered, as the package wandb does. */
const patientClient = (service: RunningService) => {
  const until = async <A>(ask: () => Promise<A | undefined>): Promise<A> => {
    for (;;) {
      const answer = await ask().catch(() => undefined)
      if (answer !== undefined) return answer
      await sleep(RETRY_MS)
    }
  }
  const graphQl = (query: string, variables: object) =>
    until(async () => {
      const answer = await service.post('/graphql', { query, variables })
      if (answer.status !== 200) return undefined
      const { data, errors } = answer.json<Told>()
      assert.equal(errors, undefined)
      return data!
    })
  const mutate = (name: string, type: string, fields: string, input: object) =>
    graphQl(`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`, { input })
  const put = (url: string | null, content: string) =>
    until(async () => {
      if (url === null) return true
      return (await fetch(url, { method: 'PUT', body: content })).status === 200 ? true : undefined
    })
  return {
    graphQl,
    log: (offset: number, rows: readonly string[], more: object = {}) =>
      until(async () => {
        const body = { files: { 'wandb-history.jsonl': { offset, content: rows } }, ...more }
        return (await service.post('/files/default/p/r/file_stream', body)).status === 200 ? true : undefined
      }),
    start: () =>
      mutate('upsertBucket', 'UpsertBucketInput', 'inserted', {
        entityName: 'default',
        modelName: 'p',
        name: 'r',
        host: 'h',
      }),
    logArtifact: async (content: string) => {
      const place = { entityName: 'default', projectName: 'p' }
      const { createArtifact } = await mutate(
        'createArtifact',
        'CreateArtifactInput',
        'artifact { id state }',
        {
          ...place,
          artifactTypeName: 'dataset',
          artifactCollectionName: 'ds',
          digest: digestOf('f', content),
          digestAlgorithm: 'MANIFEST_MD5',
        },
      )
      const { id, state } = createArtifact.artifact as { readonly id: string; readonly state: string }
      if (state === 'COMMITTED') return
      const files = await mutate(
        'createArtifactFiles',
        'CreateArtifactFilesInput',
        'files { edges { node { uploadUrl } } }',
        { artifactFiles: [{ artifactID: id, name: 'f', md5: md5(content).digest('base64') }] },
      )
      await put(files['createArtifactFiles'].files.edges[0].node.uploadUrl as string | null, content)
      const manifest = manifestOf('f', content)
      const made = await mutate(
        'createArtifactManifest',
        'CreateArtifactManifestInput',
        'artifactManifest { file { uploadUrl } }',
        { ...place, artifactID: id, name: 'm', digest: md5(manifest).digest('base64'), runName: 'r' },
      )
      await put(made['createArtifactManifest'].artifactManifest.file.uploadUrl as string, manifest)
      await mutate('commitArtifact', 'CommitArtifactInput', 'artifact { id }', { artifactID: id })
    },
  }
}

describe('a program that logs with the package wandb', function () {
  this.timeout(900_000)

  it('loses nothing and doubles nothing when the service is killed', async () => {
    const service = await startRunningService()
    try {
      const client = patientClient(service)
      await client.start()
      const over = new AbortController()
      let offset = 0
      let artifacts = 0
      const logging = (async () => {
        while (!over.signal.aborted) {
          const rows = Array.from({ length: ROWS_OF_REQUEST }, (_, at) => `{"_step":${offset + at}}`)
          await client.log(offset, rows)
          offset += ROWS_OF_REQUEST
        }
        await client.log(offset, [], { complete: true, exitcode: 0 })
      })()
      const uploading = (async () => {
        while (!over.signal.aborted) {
          await client.logArtifact(`content ${artifacts}`)
          artifacts += 1
        }
      })()
      for (let round = 0; round < ROUNDS; round += 1) {
        await sleep(100 + 37 * (round % 9))
        await service.kill('SIGKILL')
        await service.restart()
      }
      over.abort()
      await Promise.all([logging, uploading])

      const { project } = await client.graphQl(
        `{ project(name: "p", entityName: "default") { run(name: "r") { state historyLineCount }
          artifactCollection(name: "ds") { artifacts { totalCount edges { version node { fileCount aliases { alias } } } } } } }`,
        {},
      )
      assert.deepEqual(project.run, { state: 'finished', historyLineCount: offset })
      const { totalCount, edges } = project.artifactCollection.artifacts
      assert.equal(totalCount, artifacts)
      const versions = edges as readonly { node: { fileCount: number; aliases: readonly object[] } }[]
      assert.ok(
        versions.every(({ node }, at) => node.fileCount === 1 && node.aliases.length === (at === 0 ? 1 : 0)),
      )
      const steps: number[] = []
      for (let from = 0; from < offset; from += 10_000) {
        const page = await client.graphQl(
          `query ($from: Int64, $to: Int64) { project(name: "p", entityName: "default") { run(name: "r") {
            history(minStep: $from, maxStep: $to, samples: 10000) } } }`,
          { from, to: from + 10_000 },
        )
        for (const line of page['project'].run.history as readonly string[])
          steps.push((JSON.parse(line) as { _step: number })._step)
      }
      assert.deepEqual(
        steps,
        Array.from({ length: offset }, (_, step) => step),
      )
      assert.ok(
        offset >= ROUNDS * ROWS_OF_REQUEST && artifacts >= ROUNDS / 2,
        `${offset} rows, ${artifacts} artifacts`,
      )
    } finally {
      await service.remove()
    }
  })
})
