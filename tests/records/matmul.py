from records.record import OpRecord
RECORDS: list[OpRecord] = []
