import { nullable } from '../../domain/codec/containers.js'
import { instant } from '../../domain/codec/instant.js'
import { int64, json, jsonObject, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { id, projectId } from '../../domain/ids.js'

/** Every key is present, null without a value. */
export const readCall = open('Call', {
  says: 'A call. Columns that were not requested are null, or {} for a dictionary.',
  required: {
    id,
    project_id: projectId,
    op_name: string,
    display_name: nullable(string),
    trace_id: id,
    parent_id: nullable(id),
    thread_id: nullable(id),
    turn_id: nullable(id),
    started_at: instant,
    attributes: jsonObject,
    inputs: jsonObject,
    ended_at: nullable(instant),
    exception: nullable(string),
    output: json,
    summary: jsonObject,
    otel_dump: nullable(jsonObject),
    wb_user_id: nullable(string),
    wb_run_id: nullable(id),
    wb_run_step: nullable(int64),
    wb_run_step_end: nullable(int64),
    deleted_at: nullable(instant),
  },
  optional: {
    wb_username: string,
    storage_size_bytes: nullable(int64),
    total_storage_size_bytes: nullable(int64),
  },
})
