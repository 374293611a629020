import { createHash, randomUUID } from 'node:crypto'
import assert from 'node:assert/strict'
import type { Client } from '../../support/client.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { accepted } from '../calls/given.js'
import { ask, dataOf } from '../graphql/given.js'

/** What the package `wandb` does, in its requests. */
export const clientOf = (service: Client, project: string, options: { readonly key?: string } = {}) => {
  const [entityName, projectName] = project.split('/') as [string, string]
  let team: Promise<unknown> | undefined
  const graphQl = async (query: string, variables: JsonObject) => {
    // Refused where it is there.
    await (team ??= service.post('/api/teams', { name: entityName }))
    return ask(service, query, variables, options)
  }

  const init = async (name: string, more: JsonObject = {}) =>
    dataOf(
      await graphQl(
        `mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted bucket { id name state historyLineCount } } }`,
        { input: { entityName, modelName: projectName, name, host: 'machine', ...more } },
      ),
    ).upsertBucket

  const stream = (run: string, body: JsonObject) =>
    service.post(`/files/${project}/${run}/file_stream`, body, options)

  const log = async (run: string, offset: number, rows: readonly string[], more: JsonObject = {}) =>
    accepted(await stream(run, { files: { 'wandb-history.jsonl': { offset, content: [...rows] } }, ...more }))

  const run = async (name: string, fields: string) =>
    dataOf(
      await graphQl(
        `query ($e: String, $p: String, $r: String!) { project(entityName: $e, name: $p) { run(name: $r) { ${fields} } } }`,
        { e: entityName, p: projectName, r: name },
      ),
    ).project.run

  const artifact = async (named: string, fields: string) =>
    dataOf(
      await graphQl(
        `query ($e: String, $p: String, $n: String!) { project(entityName: $e, name: $p) { artifact(name: $n) { ${fields} } } }`,
        { e: entityName, p: projectName, n: named },
      ),
    ).project.artifact

  const draft = async (collection: string, files: Readonly<Record<string, string>>, more: JsonObject = {}) =>
    dataOf(
      await graphQl(
        'mutation ($input: CreateArtifactInput!) { createArtifact(input: $input) { artifact { id state } } }',
        {
          input: {
            entityName,
            projectName,
            artifactTypeName: 'dataset',
            artifactCollectionName: collection,
            digestAlgorithm: 'MANIFEST_MD5',
            digest: digestOf(files),
            aliases: [{ artifactCollectionName: collection, alias: 'latest' }],
            ...more,
          },
        },
      ),
    ).createArtifact.artifact as { id: string; state: string }

  const fileLinks = async (
    artifactID: string,
    files: Readonly<Record<string, string>>,
    uploadPartsInput: readonly JsonObject[] = [],
  ) => {
    const artifactFiles = Object.entries(files).map(([name, content]) => ({
      artifactID,
      name,
      md5: base64(content),
      uploadPartsInput: [...uploadPartsInput],
    }))
    const { createArtifactFiles } = dataOf(
      await graphQl(
        `mutation ($input: CreateArtifactFilesInput!) { createArtifactFiles(input: $input) { files { edges { node { ${FILE_LINK} } } } } }`,
        { input: { artifactFiles, storageLayout: 'V2', cloudRegionID: null } },
      ),
    )
    return (createArtifactFiles.files.edges as readonly { node: FileLink }[]).map(({ node }) => node)
  }

  const manifestLink = async (
    artifactID: string,
    files: Readonly<Record<string, string>>,
    document?: object,
    type = 'FULL',
    baseArtifactID: string | null = null,
  ) => {
    const text = document === undefined ? manifestOf(files) : JSON.stringify(document)
    const { createArtifactManifest } = dataOf(
      await graphQl(
        `mutation ($input: CreateArtifactManifestInput!) { createArtifactManifest(input: $input) { artifactManifest { id file { uploadUrl } } } }`,
        {
          input: {
            artifactID,
            baseArtifactID,
            name: 'wandb_manifest.json',
            digest: type === 'INCREMENTAL' ? '' : base64(text),
            entityName,
            projectName,
            runName: 'r',
            type,
          },
        },
      ),
    )
    const { id, file } = createArtifactManifest.artifactManifest
    if (type !== 'INCREMENTAL') return { text, uploadUrl: file.uploadUrl as string }
    const { updateArtifactManifest } = dataOf(
      await graphQl(
        `mutation ($input: UpdateArtifactManifestInput!) { updateArtifactManifest(input: $input) { artifactManifest { file { uploadUrl } } } }`,
        { input: { artifactManifestID: id, digest: base64(text), baseArtifactID } },
      ),
    )
    return { text, uploadUrl: updateArtifactManifest.artifactManifest.file.uploadUrl as string }
  }

  const commit = (artifactID: string) =>
    graphQl(
      'mutation ($input: CommitArtifactInput!) { commitArtifact(input: $input) { artifact { id versionIndex state } } }',
      { input: { artifactID } },
    )

  const upload = async (
    collection: string,
    files: Readonly<Record<string, string>>,
    more: JsonObject = {},
  ) => {
    const { id, state } = await draft(collection, files, more)
    if (state === 'COMMITTED') return id
    for (const { name, uploadUrl, uploadHeaders } of await fileLinks(id, files))
      if (uploadUrl !== null) assert.equal((await put(uploadUrl, files[name]!, uploadHeaders)).status, 200)
    const { text, uploadUrl } = await manifestLink(id, files)
    assert.equal((await put(uploadUrl, text)).status, 200)
    return dataOf(await commit(id)).commitArtifact.artifact.id as string
  }

  /** Links a version to a collection of the team's registry `models`. */
  const link = async (artifactID: string, artifactPortfolioName: string) =>
    dataOf(
      await graphQl(
        'mutation ($input: LinkArtifactInput!) { linkArtifact(input: $input) { versionIndex } }',
        { input: { artifactID, artifactPortfolioName, entityName, projectName: 'wandb-registry-models' } },
      ),
    )

  return {
    project,
    graphQl,
    init,
    stream,
    log,
    run,
    artifact,
    draft,
    fileLinks,
    manifestLink,
    commit,
    upload,
    link,
  }
}

interface FileLink {
  readonly name: string
  readonly uploadUrl: string | null
  readonly uploadHeaders: readonly string[]
  readonly storagePath: string
  readonly uploadMultipartUrls: {
    readonly uploadID: string
    readonly uploadUrlParts: readonly { readonly partNumber: number; readonly uploadUrl: string }[]
  } | null
}

const FILE_LINK =
  'name uploadUrl uploadHeaders storagePath uploadMultipartUrls { uploadID uploadUrlParts { partNumber uploadUrl } }'

/** Headers are `name:value`. */
export const put = (url: string, content: string, headers: readonly string[] = []) =>
  fetch(url, {
    method: 'PUT',
    body: content,
    headers: headers.map((header) => header.split(':') as [string, string]),
  })

const md5 = (content: string) => createHash('md5').update(content)
const base64 = (content: string): string => md5(content).digest('base64')

const sortedEntries = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))

const digestOf = (files: Readonly<Record<string, string>>): string =>
  digestOfEntries(Object.fromEntries(Object.entries(files).map(([path, content]) => [path, base64(content)])))

/** Of the digests of entries. */
export const digestOfEntries = (digests: Readonly<Record<string, string>>): string =>
  md5(
    `wandb-artifact-manifest-v1\n${sortedEntries(digests)
      .map(([path, digest]) => `${path}:${digest}\n`)
      .join('')}`,
  ).digest('hex')

const manifestOf = (files: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    version: 1,
    storagePolicy: 'wandb-storage-policy-v1',
    contents: Object.fromEntries(
      sortedEntries(files).map(([path, content]) => [
        path,
        { digest: base64(content), size: content.length },
      ]),
    ),
  })

export const someRun = (): string => randomUUID().slice(0, 8)
