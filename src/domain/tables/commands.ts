import type { TablePublished, TableRowsStored } from './events.js'

export type TableCommand =
  | { readonly type: 'StoreTableRows'; readonly rows: TableRowsStored }
  | { readonly type: 'PublishTable'; readonly table: TablePublished }
