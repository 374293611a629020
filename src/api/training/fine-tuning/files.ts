import { Readable } from 'node:stream'
import { authorizeRead } from '../../../application/access/project-access.js'
import { entityOf } from '../../../kernel/ids.js'
import type { DataFile } from '../../../domain/training/fine-tuning.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { BlobMissing } from '../../../kernel/ports/blobs.js'
import { Failure, invalidField } from '../../../application/failure.js'
import { isFilePath, PATH_RULE } from '../../../domain/files/path.js'
import { readUpload } from '../../files/upload.js'
import type { AnyRoute } from '../../server/route.js'
import { readLog, writeAuthorized } from '../../server/route-kinds.js'
import { deletedFile, file, listOf, listPage, listQuery, seconds } from './codecs.js'
import { jobOfResultFile, resultFile, resultFileId } from './results.js'
import type { FineTunings } from '../../../application/training/fine-tunings.js'
import { openAi, projectInHeader, type FineTuningServices } from './project.js'

const fileJson = ({ file_id, bytes, uploaded_at, filename, purpose }: DataFile) =>
  ({
    id: file_id,
    object: 'file',
    bytes,
    created_at: seconds(uploaded_at),
    filename,
    purpose,
    status: 'processed',
  }) as const

export const noSuchFile = (id: string, param?: string): Failure =>
  new Failure('not-found', `There is no file ${id} in the project.`, param === undefined ? {} : { param })

const FILE = '/v1/files/:file_id'

const fileNamed = async (tunings: FineTunings, project: string, id: string): Promise<DataFile> => {
  const found = await tunings.read(project, ({ files }) => files.get(id))
  if (found === undefined) throw noSuchFile(id)
  return found
}

/** The file that a job made, by its id; undefined for other ids. */
const resultNamed = async (
  services: FineTuningServices,
  tunings: FineTunings,
  project: string,
  id: string,
) => {
  const job = await tunings.read(project, ({ jobs }) => jobs.get(jobOfResultFile(id)))
  return job === undefined || resultFileId(job.job_id) !== id ? undefined : resultFile(services, job)
}

const uploadFile = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  writeAuthorized(services, {
    ...openAi,
    method: 'post',
    path: '/v1/files',
    summary: 'Uploads a file for fine-tuning from a multipart form with the parts file and purpose.',
    form: {
      title: 'DataFileForm',
      type: 'object',
      properties: { file: { type: 'string', format: 'binary' }, purpose: { type: 'string' } },
      required: ['file', 'purpose'],
    },
    response: file,
    authorization: projectInHeader(services),
    handle:
      ({ project, headers, stream, reauthenticate }) =>
      async (cause) => {
        const { fields, file } = await readUpload(
          services.blobs,
          entityOf(project),
          headers,
          stream,
          () => true,
        )
        // The upload may have taken long.
        authorizeRead(services.access, reauthenticate(), project)
        if (file === undefined) throw invalidField(['file'], 'missing', 'Field required')
        // A job hands the name on to workers as a path.
        if (!isFilePath(file.name))
          throw invalidField(['file'], 'value_error', `The name of the file is not a path: ${PATH_RULE}`)
        if (fields.get('purpose') !== 'fine-tune')
          throw invalidField(['purpose'], 'value_error', 'Input should be fine-tune')
        const uploaded: DataFile = {
          project_id: project,
          file_id: `file-${services.ids.next()}`,
          filename: file.name,
          purpose: 'fine-tune',
          blob: file.digest,
          bytes: file.size,
          uploaded_at: instantOf(services.clock.now()),
        }
        const written = await tunings.write(project, { type: 'AddDataFile', file: uploaded }, cause)
        return { body: fileJson(uploaded), readableAt: written.readableAt }
      },
  })

const listFiles = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: '/v1/files',
    summary: 'Lists files for fine-tuning, the newest first.',
    errors: ['not-found'],
    query: listQuery,
    response: listOf(file),
    authorization: projectInHeader(services),
    handle:
      ({ project, query }) =>
      async () => {
        const files = await tunings.read(project, ({ files }) => [...files.values()].map(fileJson))
        const ordered = query.order === 'asc' ? files : files.toReversed()
        const wanted = ordered.filter(
          ({ purpose }) => query.purpose === undefined || purpose === query.purpose,
        )
        return { body: listPage(wanted, query) }
      },
  })

const readFile = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: FILE,
    summary: 'Reads what is known of a file.',
    errors: ['not-found'],
    response: file,
    authorization: projectInHeader(services),
    handle:
      ({ project, params }) =>
      async () => {
        const id = params['file_id']!
        const result = await resultNamed(services, tunings, project, id)
        return { body: result?.file ?? fileJson(await fileNamed(tunings, project, id)) }
      },
  })

const readContent = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  readLog(services, {
    ...openAi,
    method: 'get',
    path: `${FILE}/content`,
    summary: 'Reads the content of a file.',
    errors: ['not-found'],
    response: { schema: { type: 'string', format: 'binary' }, type: 'application/octet-stream' },
    authorization: projectInHeader(services),
    handle:
      ({ project, params }) =>
      async () => {
        const result = await resultNamed(services, tunings, project, params['file_id']!)
        if (result !== undefined) return { body: result.content, type: 'text/csv' }
        const { blob } = await fileNamed(tunings, project, params['file_id']!)
        const opened = await services.blobs.open(blob)
        if (opened === undefined) throw new BlobMissing(blob)
        return { body: Readable.from(opened.chunks, { objectMode: false }), type: 'application/octet-stream' }
      },
  })

const deleteFile = (services: FineTuningServices, tunings: FineTunings): AnyRoute =>
  writeAuthorized(services, {
    ...openAi,
    method: 'delete',
    path: FILE,
    summary: 'Deletes a file. Jobs that were created with it are not changed.',
    errors: ['not-found'],
    response: deletedFile,
    authorization: projectInHeader(services),
    handle: ({ project, params }) => {
      const id = params['file_id']!
      return async (cause) => {
        await fileNamed(tunings, project, id)
        const command = { type: 'DeleteDataFile', project_id: project, file_id: id } as const
        const written = await tunings.write(project, command, cause)
        return { body: { id, object: 'file' as const, deleted: true }, readableAt: written.readableAt }
      }
    },
  })

/** Files with conversations, in the API of OpenAI. */
export const dataFileRoutes = (services: FineTuningServices, tunings: FineTunings): readonly AnyRoute[] =>
  [uploadFile, listFiles, readFile, readContent, deleteFile].map((route) => route(services, tunings))
