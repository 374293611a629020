import { fileEvents } from '../../domain/files/file.js'
import { projectionOf } from '../projection.js'
import { FILES } from './tables.js'

export const filesProjection = projectionOf('files', fileEvents, (events) => [
  FILES.rows(events.map(({ data, position }) => ({ ...data, bytes: data.size, position }))),
])
