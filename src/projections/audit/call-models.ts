import { columnsFrom } from '../calls/columns.js'
import { END_COLUMNS, START_COLUMNS } from '../usage/columns.js'
import { valueAsOf, rowText, atOrBefore, type DigestedModel } from './model.js'

const NAMES = `arrayFilter(naming -> ${atOrBefore('naming.1')}, names)`
const STARTED = `ifNull(${atOrBefore('started_position')}, 0)`
const ENDED = `ifNull(${atOrBefore('ended_position')}, 0)`
const DELETED = `ifNull(${atOrBefore('deleted_position')}, 0)`

/** One row a call: the values of its start and end, its names in their order, and whether it is deleted. */
export const calls: DigestedModel = {
  table: 'calls',
  key: ['project_id', 'started_at', 'id'],
  rows: (range) => `
    SELECT ${rowText([
      ...columnsFrom('key'),
      ...columnsFrom('start').map(valueAsOf('started_position')),
      ENDED,
      ...columnsFrom('end').map(valueAsOf('ended_position')),
      `arrayMap(naming -> naming.2, arraySort(${NAMES}))`,
      DELETED,
    ])}
    FROM calls FINAL WHERE ${range} AND ${STARTED}`,
}

const happened = (position: string): string => `${position} BETWEEN 1 AND {position:UInt64}`
const any = (column: string, position: string): string => `anyIf(${column}, ${happened(position)})`

/** One row a call. In the table, a start and an end are one row if they were projected in one batch, otherwise two. */
export const usageFacts: DigestedModel = {
  table: 'usage_facts',
  key: ['project_id', 'trace_id', 'call_id'],
  rows: (range) => `
    SELECT ${rowText(['project_id', 'trace_id', 'call_id', 'started', ...START_COLUMNS, 'ended', ...END_COLUMNS, 'deleted'])}
    FROM (
      SELECT project_id, trace_id, call_id,
        max(${happened('f.started_position')}) AS started,
        ${START_COLUMNS.map((column) => `${any(`f.${column}`, 'f.started_position')} AS ${column},`).join(' ')}
        max(${happened('f.ended_position')}) AS ended,
        ${END_COLUMNS.map((column) => `${any(`f.${column}`, 'f.ended_position')} AS ${column},`).join(' ')}
        max(${happened('f.deleted_position')}) AS deleted
      FROM usage_facts AS f WHERE ${range}
      GROUP BY project_id, trace_id, call_id
    )
    WHERE started OR ended OR deleted`,
}

/** The settings of a project, in order. */
export const usageReporting: DigestedModel = {
  table: 'usage_reporting',
  key: ['project_id'],
  rows: (range) => `
    SELECT ${rowText(['project_id', 'usage_reporting', 'rank'])}
    FROM (
      SELECT project_id, usage_reporting, row_number() OVER (PARTITION BY project_id ORDER BY position) AS rank
      FROM usage_reporting FINAL WHERE ${range} AND ${atOrBefore('position')}
    )`,
}
