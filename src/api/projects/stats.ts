import type { Services } from '../../application/services.js'
import { withDefault } from '../../kernel/codec/containers.js'
import { boolean, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { storedBytes } from '../../projections/storage.js'
import { Failure } from '../../application/failure.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'

const included = withDefault(boolean, true, true)

const projectStats = closed('ProjectStatsRequest', {
  says: 'At least one kind has to be included. The bytes of other kinds are 0.',
  required: { project_id: projectId },
  optional: {
    include_trace_storage_size: included,
    include_object_storage_size: included,
    include_table_storage_size: included,
    include_file_storage_size: included,
  },
})

type StatsServices = Pick<Services, 'access' | 'reading'>

const statsOfProject = (services: StatsServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/project/stats',
    summary: 'Measure the bytes that a project stores, by kind.',
    body: projectStats,
    errors: ['bad-request'],
    response: open('ProjectStatsResponse', {
      required: {
        trace_storage_size_bytes: wholeNumber,
        objects_storage_size_bytes: wholeNumber,
        tables_storage_size_bytes: wholeNumber,
        files_storage_size_bytes: wholeNumber,
      },
    }),
    project: inBody,
    handle: ({ body, project, reader }) => {
      const { project_id: _, ...include } = body
      if (!Object.values(include).includes(true))
        throw new Failure(
          'bad-request',
          'Nothing to measure: set at least one of the include_ fields to true.',
        )
      return async (position) => {
        const stored = storedBytes(reader)
        const of = (isIncluded: boolean, kind: keyof typeof stored) =>
          isIncluded ? stored[kind](project, position) : 0
        return {
          body: {
            trace_storage_size_bytes: await of(include.include_trace_storage_size, 'trace'),
            objects_storage_size_bytes: await of(include.include_object_storage_size, 'objects'),
            tables_storage_size_bytes: await of(include.include_table_storage_size, 'tables'),
            files_storage_size_bytes: await of(include.include_file_storage_size, 'files'),
          },
        }
      }
    },
  })

/** `/files/query_stats` is the newer name. */
const statsOfFiles = (services: StatsServices): readonly AnyRoute[] =>
  ['/files/stats', '/files/query_stats'].map((path) =>
    readProject(services, {
      method: 'post',
      path,
      summary: 'Measure the files of a project.',
      body: closed('FileStatsRequest', { required: { project_id: projectId } }),
      response: open('FileStatsResponse', { required: { total_size_bytes: wholeNumber } }),
      project: inBody,
      handle:
        ({ project, reader }) =>
        async (position) => ({
          body: { total_size_bytes: await storedBytes(reader).files(project, position) },
        }),
    }),
  )

export const storageRoutes = (services: StatsServices): readonly AnyRoute[] => [
  statsOfProject(services),
  ...statsOfFiles(services),
]
