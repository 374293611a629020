import { Button, Modal, Textarea } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { NotSaved, problemAt } from '../kit/form-errors.js'
import { plural, shortNumber } from '../kit/format.js'
import { onSubmit } from '../kit/on-submit.js'
import { Failed, Loading } from '../kit/states.js'
import { Time } from '../kit/time.js'
import { Receipt } from './receipt.js'

const PATH = '/api/projects/{entity}/{project}/erasures'

interface EraseProps {
  readonly path: { readonly entity: string; readonly project: string }
  readonly callIds: readonly string[]
}

/** Erases the content of calls and of all below them, after a preview and for a reason. */
export const EraseContentButton = (props: EraseProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button size="compact-xs" variant="default" color="red" onClick={() => setOpen(true)}>
        Erase content
      </Button>
      {isOpen && <EraseDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

const EraseDialog = ({ path, callIds, onClose }: EraseProps & { readonly onClose: () => void }) => {
  const queries = useQueryClient()
  const [reason, setReason] = useState('')
  const selection = { filter: { call_ids: [...callIds] }, with_descendants: true }
  const post = (body: { readonly reason: string; readonly dry_run: boolean }) =>
    dataOf(api.POST(PATH, { params: { path }, body: { selection, ...body } }))
  const preview = useQuery({
    queryKey: ['erasure preview', path, callIds],
    queryFn: () => post({ reason: 'preview', dry_run: true }),
  })
  const erase = useMutation({
    mutationFn: () => post({ reason, dry_run: false }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['erasures', path] }),
  })
  const found = preview.data?.preview
  const requested = erase.data?.erasure
  return (
    <Modal opened onClose={onClose} title={`Erase the content of ${plural(callIds.length, 'row')}?`}>
      {preview.isError && <Failed error={preview.error} what="The preview" />}
      {preview.isPending && <Loading what="preview" />}
      {requested && <Receipt path={path} id={requested.id} />}
      {found && !requested && (
        <form className="form" onSubmit={onSubmit(() => erase.mutate())}>
          <p style={{ margin: 0 }}>
            Inputs, outputs, attributes and exceptions of {plural(found.calls, 'call')}, with all below them,
            are erased for ever: {shortNumber(found.bytes)} bytes
            {found.oldest !== null && (
              <>
                , the oldest of <Time at={found.oldest} />
              </>
            )}
            . Times, models, usage, costs and status stay.
          </p>
          <Textarea
            label="Reason"
            description="It stays in the history for ever: put no personal data into it."
            required
            maxLength={1000}
            autosize
            minRows={2}
            value={reason}
            error={problemAt(erase.error, 'reason')}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <NotSaved error={erase.error} what="The erasure" />
          <Button type="submit" color="red" disabled={found.calls === 0} loading={erase.isPending}>
            Erase for ever
          </Button>
        </form>
      )}
    </Modal>
  )
}
