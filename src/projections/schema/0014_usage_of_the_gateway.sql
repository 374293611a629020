-- Completions that went through the gateway, whose usage an SDK's parent may include already.
ALTER TABLE usage_facts MODIFY COLUMN source Enum8('' = 0, 'js-sdk' = 1, 'python-sdk' = 2, 'gateway' = 3);
