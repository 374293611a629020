import { CHANGE_COLUMNS, DELIVERY_COLUMNS } from '../deliveries/delivery-row.js'
import { FEEDBACK_COLUMNS } from '../feedback/stored-feedback.js'
import { PRICE_COLUMNS } from '../prices/price-row.js'
import { calls, usageFacts, usageReporting } from './call-models.js'
import { cameWith, hashed, told, upTo, type DigestedModel } from './model.js'

/** Facts at positions of their own, ranked among those that tell of the same thing. */
const facts = (
  table: string,
  { key, of, says }: Readonly<Record<'key' | 'of' | 'says', readonly string[]>>,
): DigestedModel => ({
  table,
  key,
  rows: (stretch) => `
    SELECT ${told([...of, ...says.map((_, index) => `said_${index}`), 'rank'])}
    FROM (
      SELECT ${of.join(', ')}, ${says.map((one, index) => `${one} AS said_${index}`).join(', ')},
        row_number() OVER (PARTITION BY ${of.join(', ')} ORDER BY position) AS rank
      FROM ${table} FINAL WHERE ${stretch} AND ${upTo('position')}
    )`,
})

/** Content that is known by its digest, wherever and whenever it came. */
const contents = (table: string, key: readonly string[], says: readonly string[]): DigestedModel => ({
  table,
  key,
  rows: (stretch) => `
    SELECT ${told([...key, ...says])} FROM ${table} FINAL WHERE ${stretch} AND ${upTo('position')}`,
})

const OBJECT = ['project_id', 'object_id']

const GIVEN = FEEDBACK_COLUMNS.filter(
  (column) => !['project_id', 'id', 'given_position', 'purged_position'].includes(column),
)
const PURGED = `ifNull(${upTo('purged_position')}, 0)`
const WAS_GIVEN = `ifNull(${upTo('given_position')}, 0)`

const feedback: DigestedModel = {
  table: 'feedback',
  key: ['project_id', 'id'],
  rows: (stretch) => `
    SELECT ${told(['project_id', 'id', WAS_GIVEN, ...GIVEN.map(cameWith('given_position')), PURGED])}
    FROM feedback FINAL WHERE ${stretch} AND (${WAS_GIVEN} OR ${PURGED})`,
}

const PUBLISHED = `ifNull(${upTo('published_position')}, 0)`
const WITHDRAWN = `ifNull(${upTo('withdrawn_position')}, 0)`
const SAID = PRICE_COLUMNS.filter(
  (column) => !['owner', 'id'].includes(column) && !column.endsWith('_position'),
)

const prices: DigestedModel = {
  table: 'prices',
  key: ['owner', 'id'],
  rows: (stretch) => `
    SELECT ${told(['owner', 'id', PUBLISHED, ...SAID.map(cameWith('published_position')), WITHDRAWN])}
    FROM prices FINAL WHERE ${stretch} AND (${PUBLISHED} OR ${WITHDRAWN})`,
}

const DELIVERY = ['team', 'automation_id', 'delivery_id']
const CHANGE = ['team', 'delivery_id']
/** Positions, and when a log recorded something, are of that log alone. */
const saidBy = (columns: readonly string[], key: readonly string[]) =>
  columns.filter((column) => !key.includes(column) && column !== 'position' && column !== 'at')

/** Every read model. The project's own facts, checkpoints and quarantined events are none. */
export const digestedModels: readonly DigestedModel[] = [
  calls,
  contents('call_index', ['project_id', 'id'], ['trace_id', 'started_at']),
  usageFacts,
  usageReporting,
  facts('object_versions', {
    key: OBJECT,
    of: OBJECT,
    says: [
      'version_index',
      'digest',
      'kind',
      'base_object_class',
      'leaf_object_class',
      'created_at',
      'deleted_at',
      'wb_user_id',
      hashed('val'),
    ],
  }),
  facts('object_tags', { key: OBJECT, of: [...OBJECT, 'version_index', 'tag'], says: ['is_on'] }),
  facts('object_aliases', { key: OBJECT, of: [...OBJECT, 'alias'], says: ['version_index', 'is_set'] }),
  contents('table_rows', ['project_id', 'digest'], ['val']),
  contents('table_entries', ['project_id', 'table_digest'], ['first_index', 'row_digests']),
  contents('tables', ['project_id', 'digest'], ['row_count']),
  feedback,
  prices,
  facts('deliveries', {
    key: ['team', 'automation_id'],
    of: DELIVERY,
    says: saidBy(DELIVERY_COLUMNS, DELIVERY),
  }),
  facts('delivery_changes', { key: CHANGE, of: CHANGE, says: saidBy(CHANGE_COLUMNS, CHANGE) }),
]
